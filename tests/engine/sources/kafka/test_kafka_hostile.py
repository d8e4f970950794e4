"""Records that nobody expects: without values or keys that are text, twice headed, of odd times."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import penstock as ps
from penstock.cql.script import parse
from penstock.engine.sources.read_slice import read_slice
from penstock.engine.sources.slices import Slice
from penstock.query.source import Source
from support.kafka.cluster import Cluster
from support.kafka.real import only_made_up
from support.kafka.sending import Sent, send

FIRST, SOUND = b'{"x": 1}', b'{"x": 2}'
COLUMNS = (
    "kafka_timestamp TIMESTAMP, kafka_key STRING, kafka_headers STRING, kafka_offset BIGINT, "
    "x BIGINT"
)


def declared(cluster: Cluster, more: str = ", malformed = 'drop'") -> Source:
    text = (
        f"CREATE STREAM a ({COLUMNS}) WITH (format = 'kafka', servers = '{cluster.servers}', "
        f"topic = 'a', timestamp = 'kafka_timestamp'{more}); SELECT a.x FROM a [RANGE 1 MINUTE];"
    )
    return parse(text).sources["a"]


def read(source: Source, columns: tuple[str, ...], count: int) -> list[dict[str, object]]:
    piece = Slice("a", first=0, last=count, is_of_topic=True)
    return [
        row
        for block in read_slice(source, ("kafka_timestamp", *columns), piece)
        for row in block.rows.select(columns).to_pylist()
    ]


def test_records_with_all_that_they_may_have_are_read() -> None:
    cluster = Cluster()
    twice = [("trace", b"a"), ("kind", b"bid"), ("trace", b"\xff"), ("none", None)]
    sent = [
        Sent(FIRST, key="schlüssel".encode(), headers=twice, millis=5),
        Sent(SOUND, key=b"", millis=1),
        Sent(SOUND, key=b"\xff\xfe", millis=2),
        Sent(None, key=b"gone", millis=3),
        Sent(b"", key=b"empty", millis=4),
    ]
    send(cluster.servers, "a", sent)
    columns = ("kafka_key", "kafka_headers", "x")
    rows = read(declared(cluster), columns, len(sent))
    assert [(row["kafka_key"], row["x"]) for row in rows] == [("schlüssel", 1), ("", 2)]
    headers = json.loads(str(rows[0]["kafka_headers"]))
    assert headers == {"trace": ["a", "\\xff"], "kind": "bid", "none": None}
    assert rows[1]["kafka_headers"] is None


def test_only_what_is_read_of_a_record_makes_it_malformed() -> None:
    cluster = Cluster()
    send(cluster.servers, "a", [Sent(None, key=b"\xff", millis=7), Sent(b"{", millis=7)])
    assert read(declared(cluster), ("kafka_offset",), 2) == [
        {"kafka_offset": 0},
        {"kafka_offset": 1},
    ]
    assert read(declared(cluster), ("kafka_key",), 2) == [{"kafka_key": None}]


def test_a_column_that_only_a_plan_looks_at_decides_nothing() -> None:
    cluster = Cluster()
    send(cluster.servers, "a", [Sent(b'{"x": "one"}'), Sent(FIRST, key=b"\xff")])
    piece = Slice("a", first=0, last=2, is_of_topic=True)
    source = declared(cluster, ", malformed = 'fail'")
    (block,) = read_slice(source, ("kafka_timestamp",), piece, ("x", "kafka_key"))
    assert block.rows.column("x").to_pylist() == [None, 1]
    assert block.rows.column("kafka_key").to_pylist() == [None, None]
    assert block.malformed == 0


@only_made_up
def test_times_of_records_may_be_before_1970_but_not_of_no_year() -> None:
    cluster = Cluster()
    millis = [-1_000, 1 << 60, -(1 << 60), 86_400_000]
    send(cluster.servers, "a", [Sent(FIRST, millis=each) for each in millis])
    rows = read(declared(cluster), ("kafka_timestamp", "kafka_offset"), 4)
    times = [(str(row["kafka_timestamp"]), row["kafka_offset"]) for row in rows]
    assert times == [("1969-12-31 23:59:59+00:00", 0), ("1970-01-02 00:00:00+00:00", 3)]


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_a_run_names_and_counts_what_it_leaves_out(kind: str, tmp_path: Path) -> None:
    cluster, bad = Cluster(), tmp_path / "bad.jsonl"
    values = {
        "json": [b'{"at": -5, "x": 1}', b'{"at": 1, "x": null}', b'{"at": null, "x": 3}', b"[]"],
        "csv": [b"-5,1", b"1,", b",3", b"[]"],
    }[kind]
    huge = b"9" * 900_000
    odd = [None, b"", huge, b"\x00\xff", b'{"at": 1e99, "x": 99999999999999999999}']
    send(cluster.servers, "a", [Sent(value, part=3) for value in (*values, *odd)])
    text = (
        "CREATE STREAM a (at BIGINT, x BIGINT) WITH (format = 'kafka', timestamp = 'at', "
        f"unit = 's', servers = '{cluster.servers}', topic = 'a', value = '{kind}', "
        f"malformed = 'keep:{bad}'); SELECT a.at, a.x FROM a [RANGE 1 MINUTE];"
    )
    reports: list[ps.Report] = []
    run = ps.sql(text, engine="local").local(
        sink=ps.jsonl(tmp_path / "out.jsonl"),
        checkpoint=tmp_path / "state",
        available_now=True,
        report=reports.append,
    )
    run.await_termination()
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert found == [{"at": -5, "x": 1}, {"at": 1, "x": None}]
    kept = [json.loads(line) for line in bad.read_text(encoding="utf-8").splitlines()]
    assert [(each["partition"], each["offset"]) for each in kept] == [
        ("a[3]", place) for place in range(2, 9)
    ]
    assert max(len(each["text"]) for each in kept) == 4096
    assert sum(report.malformed["a"] for report in reports) == 7
