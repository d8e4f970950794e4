"""Passwords of Kafka's clients: runs use them, and leave them nowhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import penstock as ps
from penstock.cli.main import app
from penstock.engine.sources.kafka import offsets
from penstock.engine.sources.kafka.client import settings_of
from penstock.engine.sources.kafka.offsets import partitions_of
from penstock.errors import SourceError
from support.kafka.cluster import Cluster
from support.kafka.real import (
    PASSWORD,
    SERVERS,
    USER,
    WITH_PASSWORD,
    let_read,
    new_topic,
    only_real,
)
from support.kafka.sending import Sent, send

SECRET = "Hush-8c1f"
NAME = "PENSTOCK_TEST_SECRET"


def script(cluster: Cluster, password: str, more: str = "") -> str:
    return (
        "CREATE STREAM a (ts TIMESTAMP, x BIGINT) WITH (format = 'kafka', timestamp = 'ts', "
        f"servers = '{cluster.servers}', topic = 'a', 'kafka.sasl.username' = 'me',\n"
        f"'kafka.sasl.password' = '{password}'{more});\n"
        "SELECT a.x FROM a [RANGE 1 MINUTE] WHERE a.x > 0;"
    )


def filled(*values: bytes) -> Cluster:
    cluster = Cluster()
    sound = (b'{"ts": "2026-01-01 00:00:01", "x": 1}', b'{"ts": "2026-01-01 00:00:02", "x": 2}')
    cluster.send("a", 0, *sound, *values)
    return cluster


def left_in(folder: Path) -> list[str]:
    """The files that have the secret in them."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 5
    return [str(path) for path in files if SECRET.encode() in path.read_bytes()]


def ran(folder: Path, text: str) -> tuple[int, str]:
    """A run by the command line: how it ended and all that it said."""
    query = folder.parent / "query.cql"
    query.write_text(text, encoding="utf-8")
    arguments = ["run", str(query), "--engine", "local", "--available-now"]
    where = ["--checkpoint", str(folder / "state"), "--sink", f"jsonl:{folder / 'out.jsonl'}"]
    done = CliRunner().invoke(app, [*arguments, *where])
    return done.exit_code, f"{done.output}\n{done.exception}"


def test_a_run_leaves_its_password_nowhere(tmp_path: Path) -> None:
    cluster = filled()
    code, said = ran(tmp_path / "run", script(cluster, SECRET))
    assert code == 0
    for command in (
        ["status", str(tmp_path / "run" / "state"), "--format", "json"],
        ["status", str(tmp_path / "run" / "state")],
        ["analyze", str(tmp_path / "query.cql")],
        ["explain", str(tmp_path / "query.cql"), "--format", "html"],
        ["explain", str(tmp_path / "query.cql"), "--format", "json"],
    ):
        shown = CliRunner().invoke(app, command)
        assert shown.exit_code == 0, shown.output
        said += shown.output
    assert "sasl.password" in said
    assert SECRET not in said
    assert left_in(tmp_path / "run") == []
    assert len((tmp_path / "run" / "out.jsonl").read_text().splitlines()) == 2


def test_nor_does_a_run_that_fails(tmp_path: Path) -> None:
    cluster = filled(b"{broken")
    code, said = ran(tmp_path / "run", script(cluster, SECRET))
    assert code == 1
    assert "malformed row in a[0]@2" in said
    wrong = script(cluster, SECRET, ", 'kafka.nothing.such' = 'x'")
    code, why = ran(tmp_path / "wrong", wrong)
    assert code == 1
    assert 'No such configuration property: "nothing.such"' in why
    code, refused = ran(tmp_path / "run", script(cluster, SECRET).replace("a.x > 0", "a.x > 1"))
    assert code == 1
    assert "belongs to another query" in refused
    assert SECRET not in said + why + refused
    assert left_in(tmp_path) == [str(tmp_path / "query.cql")]


def test_a_query_from_its_checkpoint_says_which_password_it_lacks(tmp_path: Path) -> None:
    cluster = filled()
    assert ran(tmp_path / "run", script(cluster, SECRET))[0] == 0
    head = json.loads((tmp_path / "run" / "state" / "reports" / "run.json").read_text())
    code, said = ran(tmp_path / "run", head["query"])
    assert code == 1
    assert "stream a: the value of kafka.sasl.password is missing" in said
    assert "env:NAME" in said


@pytest.mark.parametrize("kind", ["env", "file"])
def test_a_query_that_says_where_its_password_is_goes_on_from_its_checkpoint(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster, kept = filled(), tmp_path / "secret"
    password = f"env:{NAME}" if kind == "env" else f"file:{kept}"
    text = script(cluster, password)
    missing = "no environment variable" if kind == "env" else "No such file"
    code, said = ran(tmp_path / "run", text)
    assert code == 1
    assert missing in said
    monkeypatch.setenv(NAME, SECRET)
    kept.write_text(f"{SECRET}\n", encoding="utf-8")
    source = ps.sql(text, engine="local").query.sources["a"]
    assert settings_of(source)["sasl.password"] == SECRET
    assert ran(tmp_path / "run", text)[0] == 0
    cluster.send("a", 1, {"ts": "2026-01-01 00:00:03", "x": 3})
    head = json.loads((tmp_path / "run" / "state" / "reports" / "run.json").read_text())
    assert ran(tmp_path / "run", head["query"])[0] == 0
    assert len((tmp_path / "run" / "out.jsonl").read_text().splitlines()) == 3
    assert left_in(tmp_path / "run") == []


def test_what_the_client_says_of_a_password_is_starred() -> None:
    cluster = filled()
    text = script(cluster, SECRET, f", 'kafka.security.protocol' = '{SECRET}'")
    with pytest.raises(SourceError, match=r"security.protocol") as caught:
        partitions_of(ps.sql(text, engine="local").query.sources["a"])
    assert SECRET not in caught.value.message


@only_real
def test_a_broker_that_asks_for_a_password_gets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = new_topic()
    let_read(topic)
    send(SERVERS, topic, [Sent(b'{"ts": "2026-01-01 00:00:01", "x": 1}')])
    text = (
        "CREATE STREAM a (ts TIMESTAMP, x BIGINT) WITH (format = 'kafka', timestamp = 'ts', "
        f"servers = '{WITH_PASSWORD}', topic = '{topic}', 'kafka.sasl.mechanism' = 'PLAIN', "
        f"'kafka.security.protocol' = 'SASL_PLAINTEXT', 'kafka.sasl.username' = '{USER}', "
        f"'kafka.sasl.password' = 'env:{NAME}'); SELECT a.x FROM a [RANGE 1 MINUTE];"
    )
    monkeypatch.setenv(NAME, PASSWORD)
    code, said = ran(tmp_path / "run", text)
    assert code == 0, said
    monkeypatch.setenv(NAME, SECRET)
    monkeypatch.setattr(offsets, "PATIENCE", 2.0)
    code, said = ran(tmp_path / "run", text)
    assert code == 1
    assert f"cannot list topic {topic} of stream a" in said
    assert SECRET not in said
    assert left_in(tmp_path) == []
