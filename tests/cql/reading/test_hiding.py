"""Passwords in the text of a query: stars from the first moment, whatever is wrong with it."""

from __future__ import annotations

import pickle

import pytest

from penstock.cql.script import parse
from penstock.errors import PenstockError
from penstock.query.secret import Secret

SECRET = "hunter''2 “really”"
SELECT = "SELECT a.x FROM a [RANGE 1 MINUTE] WHERE a.password = 'shown';"


def script(options: str) -> str:
    return (
        "CREATE STREAM a (ts TIMESTAMP, x BIGINT, password STRING) WITH (format = 'kafka', "
        f"servers = 'h:1', topic = 't', timestamp = 'ts', {options});\n{SELECT}"
    )


@pytest.mark.parametrize(
    "name",
    [
        "'kafka.sasl.password'",
        '"kafka.ssl.key.password"',
        "`kafka.ssl.keystore.password`",
        "'kafka.sasl.oauthbearer.client.secret'",
        "'kafka.sasl.oauthbearer.config'",
        "'kafka.ssl.key.pem'",
        "'KAFKA.SASL.PASSWORD' /* why */",
    ],
)
def test_a_password_is_in_the_client_s_settings_and_nowhere_else(name: str) -> None:
    query = parse(script(f"{name} = '{SECRET}', max_rows = 7"))
    source = query.sources["a"]
    assert "hunter" not in repr(query) + query.text
    assert "shown" in query.text
    assert [value for _, value in source.client] == [Secret("hunter'2 “really”")]
    assert pickle.loads(pickle.dumps(source)).client == source.client
    caret = source.places["max_rows"]
    assert caret.text[caret.start : caret.end] == "7"


def test_a_query_that_was_written_down_lacks_its_password_alone() -> None:
    query = parse(script("'kafka.sasl.password' = 'hunter2', 'kafka.sasl.username' = 'me'"))
    ((_, password), (_, name)) = parse(query.text).sources["a"].client
    assert isinstance(password, Secret)
    assert password.is_missing
    assert name == "me"


@pytest.mark.parametrize("value", ["env:KAFKA_PASSWORD", "file:/run/secrets/kafka"])
def test_where_a_password_is_kept_may_be_seen(value: str) -> None:
    query = parse(script(f"'kafka.sasl.password' = '{value}'"))
    assert value in query.text
    assert query.sources["a"].client == (("sasl.password", value),)


@pytest.mark.parametrize(
    "options",
    [
        "'kafka.sasl.password' = 'hunter2', nothing = 1",
        "'kafka.sasl.password' = 'hunter2' 'kafka.x' = 1",
        "'kafka.sasl.password' = 'hunter2, max_rows = 1",
        "'kafka.sasl.jaas.config' = 'login required password=\"hunter2\";'",
        "'kafka.sasl.password' = hunter2",
        "kafka.sasl.password = 'hunter2'",
        "password = 'hunter2'",
        "'kafka.group.id' = 'g', 'kafka.sasl.password' = 'hunter2'",
    ],
)
def test_no_error_shows_a_password(options: str) -> None:
    with pytest.raises(PenstockError) as caught:
        parse(script(options))
    assert "hunter2" not in str(caught.value)
    assert caught.value.place is not None
    assert "hunter2" not in caught.value.place.text
