"""Streams from Kafka, on a made-up cluster: what is read, what comes again, what is late."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import penstock as ps
from penstock.cql.script import parse
from penstock.engine.sources.kafka import offsets
from penstock.errors import PenstockError, SourceError, SqlError
from penstock.sampling.analyze import analyze
from support.kafka.cluster import Cluster


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def stream(cluster: Cluster, name: str, more: str = "") -> str:
    return (
        f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, x BIGINT) WITH (format = 'kafka', "
        f"servers = '{cluster.servers}', topic = '{name}', timestamp = 'ts'{more});\n"
    )


JOIN = "SELECT a.x AS ax, b.x AS bx FROM a [RANGE 1 MINUTE], b [RANGE 1 MINUTE] WHERE a.k = b.k;"


def tuple_of(second: int, k: int, x: int) -> dict[str, object]:
    return {"ts": f"2026-01-01 00:00:{second:02d}", "k": k, "x": x}


def results(query: ps.ContinuousQuery, folder: Path) -> list[tuple[int, ...]]:
    """All results so far, after a run over all there is."""
    out = folder / "out.jsonl"
    run = query.local(sink=ps.jsonl(out), checkpoint=folder / "state", available_now=True)
    run.await_termination()
    lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
    return sorted(tuple(json.loads(line).values()) for line in lines)


def test_two_topics_are_joined_and_read_on(cluster: Cluster, tmp_path: Path) -> None:
    cluster.send("a", 0, tuple_of(1, 7, 1), tuple_of(2, 8, 2))
    cluster.send("a", 1, tuple_of(1, 7, 3))
    cluster.send("b", 0, tuple_of(3, 7, 10))
    query = ps.sql(stream(cluster, "a") + stream(cluster, "b") + JOIN, engine="local")
    assert results(query, tmp_path) == [(1, 10), (3, 10)]
    assert results(query, tmp_path) == [(1, 10), (3, 10)]
    cluster.send("b", 1, tuple_of(4, 8, 20))
    assert results(query, tmp_path) == [(1, 10), (2, 20), (3, 10)]


def test_a_partition_that_lags_does_not_make_its_tuples_late(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.send("a", 0, tuple_of(50, 7, 1))
    cluster.send("a", 1, tuple_of(1, 7, 2))
    cluster.send("b", 0, tuple_of(1, 7, 10))
    query = ps.sql(stream(cluster, "a") + stream(cluster, "b") + JOIN, engine="local")
    assert results(query, tmp_path) == [(1, 10), (2, 10)]
    # Partition 1 has come to second 1 only.
    cluster.send("a", 1, tuple_of(2, 7, 3))
    assert results(query, tmp_path) == [(1, 10), (2, 10), (3, 10)]
    # And now to second 40, so that second 30 is late there, as it is in a partition that is new.
    cluster.send("a", 1, tuple_of(40, 7, 4))
    assert len(results(query, tmp_path)) == 4
    cluster.send("a", 1, tuple_of(30, 7, 5))
    cluster.send("a", 2, tuple_of(30, 7, 6))
    assert len(results(query, tmp_path)) == 4


def test_a_partition_that_lags_finds_what_was_kept_for_it(cluster: Cluster, tmp_path: Path) -> None:
    cluster.send("a", 0, tuple_of(50, 7, 1))
    cluster.send("a", 1, tuple_of(1, 7, 2))
    cluster.send("b", 0, tuple_of(5, 7, 10))
    short = JOIN.replace("1 MINUTE", "5 SECONDS")
    query = ps.sql(stream(cluster, "a") + stream(cluster, "b") + short, engine="local")
    assert results(query, tmp_path) == [(2, 10)]
    # Though the other partition is far ahead, what this one meets has not been given up.
    cluster.send("a", 1, tuple_of(8, 7, 3))
    assert results(query, tmp_path) == [(2, 10), (3, 10)]


def test_a_malformed_record_is_named_by_its_offset(cluster: Cluster, tmp_path: Path) -> None:
    cluster.send("a", 3, tuple_of(1, 7, 1), b"{broken", None)
    text = "SELECT a.x FROM a [RANGE 1 MINUTE];"
    query = ps.sql(stream(cluster, "a") + text, engine="local")
    with pytest.raises(SourceError, match=r"malformed row in a\[3\]@1: '{broken' is not a JSON"):
        results(query, tmp_path / "fail")
    bad = tmp_path / "bad.jsonl"
    keeping = stream(cluster, "a", f", malformed = 'keep:{bad}'")
    query = ps.sql(keeping + text, engine="local")
    assert results(query, tmp_path / "keep") == [(1,)]
    kept = [json.loads(line) for line in bad.read_text(encoding="utf-8").splitlines()]
    assert [(each["partition"], each["offset"]) for each in kept] == [("a[3]", 1), ("a[3]", 2)]


def test_batches_are_limited_and_take_of_every_partition(cluster: Cluster, tmp_path: Path) -> None:
    for part in range(3):
        cluster.send("a", part, *(tuple_of(n, 7, n) for n in range(10)))
    query = ps.sql(
        stream(cluster, "a", ", max_rows = 9") + "SELECT a.x FROM a [RANGE 1 MINUTE];",
        engine="local",
    )
    reports: list[ps.Report] = []
    run = query.local(
        sink=ps.jsonl(tmp_path / "out.jsonl"),
        checkpoint=tmp_path / "state",
        available_now=True,
        report=reports.append,
    )
    run.await_termination()
    assert [report.read["a"] for report in reports] == [9, 9, 9, 3]
    assert [report.late["a"] for report in reports] == [0, 0, 0, 0]
    assert [report.backlog["a"] for report in reports] == [21, 12, 3, 0]


@pytest.mark.parametrize("kind", ["json", "csv"])
@pytest.mark.parametrize("kafka", ["kafka", "KAFKA"])
def test_what_a_record_tells_are_columns_by_names_in_any_case(
    kafka: str, kind: str, cluster: Cluster, tmp_path: Path
) -> None:
    values = {"json": (b'{"x": 5, "KAFKA_offset": 9}', b'{"x": 6}'), "csv": (b"5", b"6")}
    cluster.send("a", 2, *values[kind])
    text = (
        f"CREATE STREAM a ({kafka}_timestamp TIMESTAMP, {kafka}_partition INT, "
        f"{kafka}_offset BIGINT, x BIGINT) WITH (format = 'kafka', servers = '{cluster.servers}', "
        f"topic = 'a', timestamp = 'kafka_timestamp', value = '{kind}');"
        "SELECT a.kafka_partition, a.kafka_offset, a.x FROM a [RANGE 1 MINUTE];"
    )
    assert results(ps.sql(text, engine="local"), tmp_path) == [(2, 0, 5), (2, 1, 6)]
    with pytest.raises(SqlError, match=f"{kafka}_offset of a record is a BIGINT, not a STRING"):
        ps.sql(text.replace("offset BIGINT", "offset STRING"))


@pytest.mark.parametrize(
    ("offsets", "message"),
    [
        ('{"0": 3}', r"a\[0\] has offsets from 0 to 2, not 3"),
        ('{"7": 0}', r"there is no a\[7\]; the partitions are 0, 1, 2, 3"),
    ],
)
def test_offsets_to_start_at_must_be_there(
    offsets: str, message: str, cluster: Cluster, tmp_path: Path
) -> None:
    cluster.send("a", 0, tuple_of(1, 7, 1), tuple_of(2, 7, 2))
    text = stream(cluster, "a", f", start = '{offsets}'") + "SELECT a.x FROM a [RANGE 1 MINUTE];"
    with pytest.raises(SourceError, match=message):
        results(ps.sql(text, engine="local"), tmp_path / "wrong")
    begun = text.replace(offsets, '{"0": 1}')
    assert results(ps.sql(begun, engine="local"), tmp_path / "right") == [(2,)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("topic = 'a'", "has no servers"),
        ("servers = 'h:1'", "has no topic"),
        ("servers = 'h:1', topic = 'a', start = '{\"0\": -1}'", "start must be offsets"),
        ("servers = 'h:1', topic = 'a', start = 'soon'", "start must be a time"),
        ("servers = 'h:1', topic = 'a', max_files = 1", "format kafka has no option max_files"),
    ],
)
def test_what_is_missing_or_wrong_is_said_at_once(options: str, message: str) -> None:
    with pytest.raises(PenstockError, match=message):
        ps.sql(
            "CREATE STREAM a (ts TIMESTAMP, x BIGINT) WITH (format = 'kafka', timestamp = 'ts', "
            f"{options}); SELECT a.x FROM a [RANGE 1 MINUTE];"
        )


def test_a_sample_of_a_topic_tells_its_rate(cluster: Cluster) -> None:
    for part in range(2):
        cluster.send("a", part, *(tuple_of(n, n % 5, n) for n in range(50)))
    query = parse(stream(cluster, "a") + "SELECT a.x FROM a [RANGE 1 MINUTE] WHERE a.k = 3;")
    found = analyze(query, seconds=10.0)
    rate = found.stream("a").rate
    assert rate is not None
    assert rate.value == pytest.approx(2.0, rel=0.1)


def test_a_topic_that_is_not_there_is_named(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offsets, "PATIENCE", 1.0)
    gone = stream(cluster, "a").replace(cluster.servers, "127.0.0.1:1")
    query = ps.sql(gone + "SELECT a.x FROM a [RANGE 1 MINUTE];", engine="local")
    with pytest.raises(SourceError, match=r"cannot list topic a of stream a at 127.0.0.1:1"):
        results(query, tmp_path)


def test_another_topic_does_not_go_on_where_one_was_read_to(
    cluster: Cluster, tmp_path: Path
) -> None:
    for topic in ("a", "other"):
        cluster.send(topic, 0, *(tuple_of(n, n, n) for n in range(20)))
    select = "SELECT a.x FROM a [RANGE 1 MINUTE];"
    results(ps.sql(stream(cluster, "a") + select, engine="local"), tmp_path)
    other = stream(cluster, "a").replace("topic = 'a'", "topic = 'other'")
    with pytest.raises(ps.PenstockError, match="has read topic a on this checkpoint"):
        results(ps.sql(other + select, engine="local"), tmp_path)


@pytest.mark.spark
def test_topics_are_joined_on_spark(cluster: Cluster, tmp_path: Path, spark: SparkSession) -> None:
    for part in range(4):
        cluster.send("a", part, *(tuple_of(n, n % 10, n) for n in range(part, 50)))
        cluster.send("b", part, *(tuple_of(n, n % 7, n) for n in range(10 * part, 50)))
    query = ps.sql(stream(cluster, "a") + stream(cluster, "b") + JOIN)
    run = query.start(
        spark, sink=ps.jsonl(tmp_path / "out.jsonl"), checkpoint=tmp_path / "s", available_now=True
    )
    run.await_termination()
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    here = results(ps.sql(query.plan.query.text, engine="local"), tmp_path / "local")
    assert sorted(tuple(each.values()) for each in found) == here
    assert len(here) > 100
