"""The options of streams from Kafka: what is passed on, and Spark's words for them."""

from __future__ import annotations

import pytest

from penstock.cql.script import parse
from penstock.errors import SqlError
from penstock.query.source import Source

OURS = "servers = 'h:1', topic = 't'"


def declared(options: str, format_: str = "kafka") -> Source:
    text = (
        f"CREATE STREAM a (ts TIMESTAMP, x BIGINT) WITH (format = '{format_}', timestamp = 'ts', "
        f"{options}); SELECT a.x FROM a [RANGE 1 MINUTE];"
    )
    return parse(text).sources["a"]


def test_settings_are_passed_on_as_text() -> None:
    source = declared(
        f"{OURS}, 'kafka.security.protocol' = 'SASL_SSL', 'kafka.fetch.wait.max.ms' = 5, "
        "'kafka.enable.ssl.certificate.verification' = FALSE"
    )
    assert dict(source.client) == {
        "security.protocol": "SASL_SSL",
        "fetch.wait.max.ms": "5",
        "enable.ssl.certificate.verification": "false",
    }


def test_sparks_words_mean_the_same() -> None:
    spark = declared(
        "subscribe = 't', 'kafka.bootstrap.servers' = 'h:1', maxOffsetsPerTrigger = '10', "
        "failOnDataLoss = 'false', startingOffsets = 'Earliest'"
    )
    ours = declared(f"{OURS}, max_rows = 10, data_loss = 'skip', start = 'earliest'")
    assert sorted(spark.options) == sorted(ours.options)
    moment = declared(f"{OURS}, startingTimestamp = '1767225600250'").option("start")
    assert moment == "2026-01-01T00:00:00.250000+00:00"
    offsets = '{"t": {"0": 12, "1": -1, "2": -2}}'
    assert declared(f"{OURS}, startingOffsets = '{offsets}'").option("start") == offsets


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (f"{OURS}, subscribe = 't'", "subscribe says what topic says"),
        (f"'kafka.bootstrap.servers' = 'h:1', {OURS}", "servers says what kafka.bootstrap.servers"),
        (f"{OURS}, start = 'latest', startingTimestamp = 5", "startingTimestamp says what start"),
        (f"{OURS}, maxOffsetsPerTrigger = 1, max_rows = 1", "max_rows says what maxOffsets"),
        (f"{OURS}, data_loss = 'skip', failOnDataLoss = TRUE", "failOnDataLoss says what data_l"),
        (f"{OURS}, startingOffsets = 5", "startingOffsets must be 'earliest', 'latest' or offs"),
        (f"{OURS}, startingOffsets = '{{\"0\": 5}}'", "startingOffsets must be 'earliest'"),
        (f'{OURS}, startingOffsets = \'{{"b": {{"0": 5}}}}\'', "offsets of b, not of t"),
        (f'{OURS}, startingOffsets = \'{{"t": {{"0": -3}}}}\'', "startingOffsets must be"),
        (f"{OURS}, startingTimestamp = 'soon'", "startingTimestamp must be milliseconds"),
        (f"{OURS}, startingTimestamp = 99999999999999999", "startingTimestamp must be millis"),
        (f"{OURS}, maxOffsetsPerTrigger = '0'", "maxOffsetsPerTrigger must be a whole number"),
        (f"{OURS}, failOnDataLoss = 'maybe'", "failOnDataLoss must be TRUE or FALSE"),
        (f"{OURS}, subscribePattern = 't.*'", "subscribePattern is not for streams to set"),
        ("servers = 'h:1', subscribe = 't,u'", "subscribe must be the name of one topic"),
        (f"{OURS}, 'kafka.' = 'x'", "there is no option kafka."),
        (f"{OURS}, kafka.sasl.username = 'x'", "that has dots stands in quotes"),
        (f"{OURS}, 'kafka.sasl.password' = 5", "kafka.sasl.password must be text"),
        (f"{OURS}, 'kafka.ssl.key.pem' = 'file:key.pem'", "must be a file with its whole path"),
        (f"{OURS}, 'kafka.sasl.username' = 'env:'", "must be 'env:NAME'"),
        (f"{OURS}, 'kafka.a.b' = 1, 'kafka.a.b' = 2", "kafka.a.b is given twice"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(options: str, message: str) -> None:
    with pytest.raises(SqlError, match=message) as caught:
        declared(options)
    assert caught.value.place is not None
    assert caught.value.hint


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("group.id", "no group is joined"),
        ("enable.auto.commit", "nothing is committed"),
        ("isolation.level", "isolation = 'read_committed'"),
        ("metadata.broker.list", "servers = "),
        ("auto.offset.reset", "start = "),
        ("value.deserializer", "value = "),
        ("sasl.jaas.config", "'kafka.sasl.username'"),
        ("ssl.truststore.location", "'kafka.ssl.ca.location'"),
    ],
)
def test_settings_that_are_decided_here_are_refused_by_name(name: str, hint: str) -> None:
    with pytest.raises(SqlError, match=f"kafka.{name} is not for streams to set") as caught:
        declared(f"{OURS}, 'kafka.{name}' = 'x'")
    assert caught.value.hint is not None
    assert hint in caught.value.hint


def test_other_formats_pass_nothing_on() -> None:
    with pytest.raises(SqlError, match=r"format csv has no option kafka.sasl.username"):
        declared("path = 'x', 'kafka.sasl.username' = 'me'", "csv")
