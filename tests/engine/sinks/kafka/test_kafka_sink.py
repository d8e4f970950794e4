"""Results in a topic: what records hold, which keys they have, and what is refused by name."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import penstock as ps
from penstock.engine.sinks.kafka import tail
from penstock.engine.sinks.kafka.keyed import record_lines
from penstock.errors import PenstockError, SinkError
from penstock.lab.clock import RealClock
from penstock.lab.experiment import run_experiment
from penstock.lab.schedule import Eager
from support.kafka.cluster import Cluster, Record

JOIN = "SELECT a.x AS ax, b.x AS bx FROM a [RANGE 1 MINUTE], b [RANGE 1 MINUTE] WHERE a.k = b.k;"
VIEW = (
    "SELECT a.k AS key, COUNT(*) AS n FROM a [RANGE 5 SECONDS], b [RANGE 5 SECONDS] "
    "WHERE a.k = b.k GROUP BY a.k EVERY 1 SECOND;"
)


@pytest.fixture
def cluster() -> Cluster:
    made = Cluster()
    made.make("results")
    return made


def streams(folder: Path) -> str:
    return "".join(
        f"CREATE STREAM {name} (ts BIGINT, k BIGINT, x BIGINT) WITH (format = 'json', "
        f"path = '{folder}/{name}', timestamp = 'ts', unit = 's', max_files = 1);\n"
        for name in "ab"
    )


def write(folder: Path, name: str, file: int, *rows: tuple[int, int, int]) -> None:
    """A file of a stream, of (second, key, x)."""
    (folder / name).mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(dict(zip(("ts", "k", "x"), row, strict=True))) for row in rows]
    (folder / name / f"{file}.json").write_text("\n".join(lines) + "\n")


def fill(folder: Path) -> None:
    """Two batches of both streams."""
    write(folder, "a", 1, (1, 7, 1), (2, 8, 2))
    write(folder, "b", 1, (3, 7, 10), (3, 8, 20))
    write(folder, "a", 2, (4, 7, 3), (30, 9, 4))
    write(folder, "b", 2, (30, 9, 30))


def run(text: str, sink: ps.Sink | str, folder: Path, **options: Any) -> None:
    """Read all there is, into a sink."""
    query = ps.sql(streams(folder) + text, engine="local")
    started = query.local(
        sink=sink, checkpoint=folder / "checkpoint", available_now=True, **options
    )
    started.await_termination()


def rows(records: list[Record]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(record.data.values()) for record in records)


def test_results_are_in_the_topic_once_with_their_batch(cluster: Cluster, tmp_path: Path) -> None:
    fill(tmp_path)
    sink = ps.kafka(cluster.servers, "results")
    run(JOIN, sink, tmp_path)
    records = cluster.read("results")
    assert rows(records) == Counter([(1, 10), (2, 20), (3, 10), (4, 30)])
    assert {record.key for record in records} == {None}
    mark = (tmp_path / "checkpoint" / "mark").read_bytes()
    assert {record.headers["penstock-run"] for record in records} == {mark}
    by_batch = Counter(record.headers["penstock-batch"] for record in records)
    assert by_batch == Counter({b"0": 2, b"1": 2})
    run(JOIN, sink, tmp_path)
    assert cluster.read("results") == records
    write(tmp_path, "b", 3, (31, 9, 40))
    run(JOIN, f"kafka:{cluster.servers}/results", tmp_path)
    later = [record for record in cluster.read("results") if record not in records]
    assert [record.data for record in later] == [{"ax": 4, "bx": 40}]


def test_a_view_is_keyed_by_its_groups_and_deletes_with_tombstones(
    cluster: Cluster, tmp_path: Path
) -> None:
    fill(tmp_path)
    run(VIEW, f"kafka:{cluster.servers}/results", tmp_path, drain=True)
    jsonl = tmp_path / "same.jsonl"
    query = ps.sql(streams(tmp_path) + VIEW, engine="local")
    query.local(sink=ps.jsonl(jsonl), checkpoint=tmp_path / "other").available_now(drain=True)
    wanted = [json.loads(line) for line in jsonl.read_text().splitlines()]
    assert {row["_change"] for row in wanted} == {"upsert", "delete"}
    by_key: dict[str, list[Any]] = {}
    for row in wanted:
        value = row if row["_change"] == "upsert" else None
        by_key.setdefault(json.dumps({"key": row["key"]}, separators=(",", ":")), []).append(value)
    found: dict[str, list[Any]] = {}
    partitions: dict[str, set[int]] = {}
    for record in cluster.read("results"):
        key = (record.key or b"").decode()
        found.setdefault(key, []).append(record.data)
        partitions.setdefault(key, set()).add(record.partition)
    assert found == by_key
    assert set(map(len, partitions.values())) == {1}


def test_keys_tell_numbers_apart_that_json_does_not() -> None:
    text = (
        "CREATE STREAM a (ts BIGINT, x DOUBLE, s STRING) WITH (format = 'json', path = 'a', "
        "timestamp = 'ts', unit = 's'); "
        "SELECT s, COUNT(*) AS n, x FROM a [RANGE 5 SECONDS] GROUP BY x, s;"
    )
    values = [math.nan, math.inf, -math.inf, -0.0, 0.0, 1.5, None]
    changed = pa.record_batch(
        {
            "s": pa.array(["tab\tline\n"] * 7, pa.large_string()),
            "n": pa.array(range(7)),
            "x": pa.array(values),
            "_time": pa.array([0] * 7, pa.timestamp("us", tz="UTC")),
            "_change": pa.array([*["upsert"] * 6, "delete"], pa.large_string()),
        }
    )
    lines = bytes(record_lines(changed, ps.sql(text).query)).split(b"\n")
    assert lines.pop() == b""
    keys, told = zip(*(line.split(b"\t") for line in lines), strict=True)
    assert [json.loads(key)["x"] for key in keys] == ["nan", "inf", "-inf", 0, 0, 1.5, None]
    assert keys[3] == keys[4]
    assert {json.loads(key)["s"] for key in keys} == {"tab\tline\n"}
    assert [json.loads(value)["n"] for value in told[:-1]] == list(range(6))
    assert told[-1] == b""


def test_a_view_without_groups_has_one_key(cluster: Cluster, tmp_path: Path) -> None:
    fill(tmp_path)
    run(
        "SELECT COUNT(*) AS n FROM a [RANGE 1 MINUTE];",
        ps.kafka(cluster.servers, "results"),
        tmp_path,
    )
    records = cluster.read("results")
    assert {record.key for record in records} == {b"{}"}
    assert records[-1].data["n"] == 3


@pytest.mark.parametrize(
    ("sink", "message"),
    [
        ("kafka:results", "names no brokers"),
        ("kafka:h:1/", "'' is no name of a topic"),
        ("kafka:h:1/a b", "'a b' is no name of a topic"),
        ("kafka:h:1/a?password=x", "has no such option: password"),
        ("kafka:", "'kafka:' is not a sink"),
    ],
)
def test_what_is_no_topic_is_refused(sink: str, message: str, tmp_path: Path) -> None:
    fill(tmp_path)
    with pytest.raises(SinkError, match=message):
        run(JOIN, sink, tmp_path)


def test_a_topic_that_is_not_there_is_named_and_not_made(cluster: Cluster, tmp_path: Path) -> None:
    fill(tmp_path)
    for _ in range(2):
        with pytest.raises(SinkError, match=f"there is no topic nothing at {cluster.servers}"):
            run(JOIN, f"kafka:{cluster.servers}/nothing", tmp_path)
    query = ps.sql(streams(tmp_path) + JOIN)
    with pytest.raises(SinkError, match="there is no topic nothing"):
        query.check(sink=f"kafka:{cluster.servers}/nothing", checkpoint=tmp_path / "spark")


def test_brokers_that_are_not_there_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path)
    monkeypatch.setattr(tail, "PATIENCE", 0.5)
    with pytest.raises(SinkError, match=r"cannot list topic results at 127.0.0.1:1: ") as told:
        run(JOIN, "kafka:127.0.0.1:1/results", tmp_path)
    assert "nothing is lost" in (told.value.hint or "")


def test_groups_must_be_selected(cluster: Cluster, tmp_path: Path) -> None:
    fill(tmp_path)
    hidden = VIEW.replace("a.k AS key, ", "")
    with pytest.raises(SinkError, match=r"keyed by its groups, and a.k is not selected"):
        run(hidden, f"kafka:{cluster.servers}/results", tmp_path)


def test_a_topic_is_not_overwritten(cluster: Cluster, tmp_path: Path) -> None:
    fill(tmp_path)
    with pytest.raises(SinkError, match="topic results is appended to, and never overwritten"):
        run(JOIN, f"kafka:{cluster.servers}/results", tmp_path, overwrite=True)


def test_another_sink_gets_what_comes_later(cluster: Cluster, tmp_path: Path) -> None:
    fill(tmp_path)
    cluster.make("others")
    run(JOIN, ps.kafka(cluster.servers, "results"), tmp_path)
    write(tmp_path, "b", 3, (31, 9, 40))
    run(JOIN, ps.kafka(cluster.servers, "others"), tmp_path)
    assert rows(cluster.read("results")).total() == 4
    assert rows(cluster.read("others")) == Counter([(4, 40)])


SECRET = "s3cret-of-the-test"


def test_settings_in_a_file_reach_the_clients_alone(cluster: Cluster, tmp_path: Path) -> None:
    fill(tmp_path)
    config = tmp_path / "client.properties"
    config.write_text(f"# for the brokers\n\nclient.id = {SECRET}\nlinger.ms=1\n")
    sink = f"kafka:{cluster.servers}/results?config={config}"
    run(JOIN, sink, tmp_path)
    assert rows(cluster.read("results")).total() == 4
    held = [path for path in (tmp_path / "checkpoint").rglob("*") if path.is_file()]
    assert len(held) > 5
    assert not [path for path in held if SECRET.encode() in path.read_bytes()]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"password {SECRET}", "line 1 is not name=value"),
        (f"client.id=x\ntransactional.id={SECRET}", "line 2 sets transactional.id"),
        (f"no.such.setting={SECRET}", "No such configuration property"),
        (f"security.protocol={SECRET}", r'Invalid value "\*\*\*"'),
    ],
)
def test_wrong_settings_are_named_without_their_values(
    text: str, message: str, cluster: Cluster, tmp_path: Path
) -> None:
    fill(tmp_path)
    config = tmp_path / "client.properties"
    config.write_text(text)
    with pytest.raises(PenstockError, match=message) as told:
        run(JOIN, ps.kafka(cluster.servers, "results", config=config), tmp_path)
    assert SECRET not in str(told.value)
    config.unlink()
    with pytest.raises(SinkError, match=r"client.properties: cannot be read: No such file"):
        run(JOIN, ps.kafka(cluster.servers, "results", config=config), tmp_path)


def test_the_laboratory_writes_to_a_topic(cluster: Cluster, tmp_path: Path) -> None:
    fill(tmp_path)
    cluster.send("results", 0, {"somebody": "else"})
    plan = ps.sql(streams(tmp_path) + JOIN, engine="local").plan
    run_experiment(plan, ps.kafka(cluster.servers, "results"), Eager(), clock=RealClock())
    found = [record.data for record in cluster.read("results")]
    assert Counter(tuple(row.values()) for row in found if "ax" in row).total() == 4


@pytest.mark.spark
def test_results_of_spark_are_in_the_topic(
    cluster: Cluster, tmp_path: Path, spark: SparkSession
) -> None:
    fill(tmp_path)
    query = ps.sql(streams(tmp_path) + JOIN)
    sink = ps.kafka(cluster.servers, "results")
    started = query.start(spark, sink=sink, checkpoint=tmp_path / "spark", available_now=True)
    started.await_termination()
    assert rows(cluster.read("results")) == Counter([(1, 10), (2, 20), (3, 10), (4, 30)])
