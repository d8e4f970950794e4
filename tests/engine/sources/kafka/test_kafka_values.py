"""Values of records in JSON, CSV and Avro: the same streams, and the same records malformed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import fastavro
import numpy as np
import pyarrow as pa
import pytest

import penstock as ps
from penstock.cql.script import parse
from penstock.engine.sources.kafka.values import parse_values
from penstock.engine.sources.read_slice import read_slice
from penstock.engine.sources.slices import Slice
from penstock.errors import SourceError
from penstock.query.source import SCHEMA_TEXT, Source
from support.kafka.cluster import Cluster
from support.kafka.encoded import COLUMNS, SCHEMA, as_avro, as_csv, as_json, rows
from support.kafka.sending import Sent, send

ENCODED = {"json": as_json, "csv": as_csv, "avro": as_avro}


def source_of(
    kind: str, folder: Path, columns: str = COLUMNS, more: str = "", servers: str = "h:1"
) -> Source:
    """A stream of one kind of values, in a topic of that name."""
    schema = folder / "row.avsc"
    if not schema.exists():
        schema.write_text(json.dumps(SCHEMA), encoding="utf-8")
    more += f", schema = '{schema}'" if kind == "avro" else ""
    text = (
        f"CREATE STREAM a ({columns}) WITH (format = 'kafka', servers = '{servers}', "
        f"topic = '{kind}', timestamp = 'ts', value = '{kind}'{more});"
        "SELECT a.ts FROM a [RANGE 1 MINUTE];"
    )
    return parse(text).sources["a"]


def parsed(source: Source, values: Sequence[bytes | None]) -> tuple[list[Any], dict[int, str]]:
    """The sound rows of values, and what is wrong with the others."""
    schema = str(source.option(SCHEMA_TEXT))
    found = parse_values(source, list(source.value_fields), values, schema)
    batch = pa.record_batch({field.name: found.columns[field.name] for field in source.fields})
    sound = [row for at, row in enumerate(batch.to_pylist()) if at not in found.faults]
    return sound, dict(found.faults)


@pytest.mark.parametrize("seed", range(5))
def test_values_of_all_kinds_are_the_same_stream(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    made = rows(random, 400)
    cluster, bad = Cluster(), sorted(random.sample(range(400), 30))
    read = {}
    for kind, encode in ENCODED.items():
        values: list[bytes | None] = [encode(row) for row in made]
        for place in bad:
            # No value, nothing in it, a part of one.
            value = values[place]
            assert value is not None
            values[place] = [None, b"", value[: len(value) // 3]][place % 3]
        send(cluster.servers, kind, [Sent(value, part=2) for value in values])
        more = ", malformed = 'drop'"
        source = source_of(kind, tmp_path, more=more, servers=cluster.servers)
        names = tuple(field.name for field in source.fields)
        piece = Slice("a", number=2, first=3, last=390, is_of_topic=True)
        read[kind] = list(read_slice(source, names, piece))
    wanted = [row for at, row in enumerate(made) if 3 <= at < 390 and at not in bad]
    for kind, blocks in read.items():
        assert [row for block in blocks for row in block.rows.to_pylist()] == wanted, kind
        numbers = np.concatenate([block.numbers for block in blocks])
        assert list(numbers & 0xFFFFFFFF) == [n for n in range(3, 390) if n not in bad]
        assert sum(block.malformed for block in blocks) == len([n for n in bad if 3 <= n < 390])


@pytest.mark.parametrize(
    ("value", "row"),
    [
        (b"1;a", {"n": 1, "x": "a"}),
        (b"1;a\n", {"n": 1, "x": "a"}),
        (b"1;a\r\n", {"n": 1, "x": "a"}),
        (b'1;"a\r\nb"', {"n": 1, "x": "a\r\nb"}),
        (b'1;""', {"n": 1, "x": ""}),
        (b"1;", {"n": 1, "x": None}),
        (b"NA;NA", {"n": None, "x": None}),
        (b'1;a"b', {"n": 1, "x": 'a"b'}),
        (b'1;"a', None),
        (b'"1;a', None),
        (b'1;"a""', None),
        (b"1;a\n2;b", None),
        (b"1;a\r2;b", None),
        (b'1;a\n"2;b', None),
        (b"1", None),
        (b"1;a;b", None),
        (b"x;a", None),
        (b"1;\xff", None),
        (b"0x10;a", None),
        (b"", None),
        (b" \n", None),
        (None, None),
    ],
)
def test_a_value_in_csv_is_one_row_and_leaves_others_alone(
    value: bytes | None, row: dict[str, Any] | None, tmp_path: Path
) -> None:
    columns = "ts TIMESTAMP, n BIGINT, x STRING"
    source = source_of("csv", tmp_path, columns, ", delimiter = ';', null = 'NA'")
    day = b"2026-01-01 00:00:00;"
    sound = [day + b"7;before", day + b'8;"af""ter"']
    odd = None if value is None else day + value if value.strip() else value
    found, faults = parsed(source, [sound[0], odd, sound[1]])
    rest = [{"n": each["n"], "x": each["x"]} for each in found]
    middle = [] if row is None else [row]
    assert rest == [{"n": 7, "x": "before"}, *middle, {"n": 8, "x": 'af"ter'}]
    assert list(faults) == ([1] if row is None else [])


def test_a_line_end_in_a_text_of_json_is_malformed_and_a_blank_elsewhere(tmp_path: Path) -> None:
    source = source_of("json", tmp_path, "x STRING, ts TIMESTAMP", "")
    values = [b'{"x": "a\nb"}', b'{"x":\n"a"\n}\n', b'{"x": "a\\nb"}']
    found = parse_values(source, [source.fields[0]], values, None)
    assert (found.columns["x"].to_pylist()[1:], list(found.faults)) == (["a", "a\nb"], [0])


def test_a_value_in_csv_may_begin_with_a_mark_of_its_encoding(tmp_path: Path) -> None:
    """Whether it is the first of those that are read at once or not."""
    source = source_of("csv", tmp_path, "x BIGINT, ts TIMESTAMP", "")
    values = [b"\xef\xbb\xbf1,2026-01-01", b"\xef\xbb\xbf2,2026-01-01"]
    found = parse_values(source, [source.fields[0]], values, None)
    assert (found.columns["x"].to_pylist(), found.faults) == ([1, 2], {})


def test_a_single_column_in_csv_may_be_text_of_any_kind(tmp_path: Path) -> None:
    source = source_of("csv", tmp_path, "x STRING, ts TIMESTAMP", "")
    fields = [source.fields[0]]
    found = parse_values(source, fields, [b"a,", b'"",2026-01-01', b",", b"b"], None)
    assert found.columns["x"].to_pylist()[:3] == ["a", "", None]
    assert list(found.faults) == [3]


def avro(schema: dict[str, Any], value: dict[str, Any]) -> bytes:
    stream = BytesIO()
    fastavro.schemaless_writer(stream, schema, value)
    return stream.getvalue()


def numbers(**kinds: Any) -> dict[str, Any]:
    fields = [{"name": name, "type": kind} for name, kind in kinds.items()]
    return {"type": "record", "name": "r", "fields": fields}


def test_avros_times_are_those_of_their_units(tmp_path: Path) -> None:
    kinds = {
        "ts": {"type": "long", "logicalType": "timestamp-millis"},
        "u": {"type": "long", "logicalType": "local-timestamp-micros"},
        "day": {"type": "int", "logicalType": "date"},
        "raw": {"type": "long", "logicalType": "timestamp-millis"},
        "color": {"type": "enum", "name": "color", "symbols": ["red", "blue"]},
        "other": "color",
        "small": "long",
    }
    (tmp_path / "row.avsc").write_text(json.dumps(numbers(**kinds)), encoding="utf-8")
    columns = (
        "ts TIMESTAMP, u TIMESTAMP, day DATE, raw BIGINT, color STRING, other STRING, small TINYINT"
    )
    source = source_of("avro", tmp_path, columns)
    plain = numbers(ts="long", u="long", day="int", raw="long", color="int", other="int")
    plain["fields"].append({"name": "small", "type": "long"})
    sound = {"ts": -1, "u": -1, "day": -1, "raw": -5, "color": 1, "other": 0, "small": -128}
    far = 1 << 60
    bad = [{"ts": far}, {"u": far}, {"day": 1 << 30}, {"color": 2}, {"small": 128}]
    values = [avro(plain, {**sound, **each}) for each in ({}, *bad)]
    found, faults = parsed(source, [*values, values[0][:-1], values[0] + b"\x00"])
    (row,) = found
    assert (str(row["ts"]), str(row["u"])) == (
        "1969-12-31 23:59:59.999000+00:00",
        "1969-12-31 23:59:59.999999+00:00",
    )
    assert (str(row["day"]), row["raw"]) == ("1969-12-31", -5)
    assert (row["color"], row["other"], row["small"]) == ("blue", "red", -128)
    assert sorted(faults) == list(range(1, 8))
    assert faults[5] == "'128' in column small is not a TINYINT"
    assert "bytes are left over" in faults[7]


def test_numbers_below_zero_choose_nothing_in_avro(tmp_path: Path) -> None:
    color = {"type": "enum", "name": "color", "symbols": ["red", "blue"]}
    inner = {"type": "record", "name": "inner", "fields": [{"name": "c", "type": "color"}]}
    kinds: dict[str, Any] = {
        "ts": {"type": "long", "logicalType": "timestamp-millis"},
        "n": ["null", "long"],
        "color": color,
        "all": {"type": "array", "items": ["null", "string", inner]},
        "by": {"type": "map", "values": ["color", "double"]},
    }
    (tmp_path / "row.avsc").write_text(json.dumps(numbers(**kinds)), encoding="utf-8")
    source = source_of("avro", tmp_path, "ts TIMESTAMP, n BIGINT, color STRING")
    # The time, n, the color, a list, a map; a choice is twice its number, one below zero is odd.
    sound = b"\x02\x02\x0e\x02\x04\x04\x02\x02\x02a\x00\x02\x02k\x00\x00\x00"
    null = b"\x02\x00\x00\x00\x00"
    # The same in other words: a number with a byte too many, a list that says its bytes.
    wordy = b"\x82\x00\x02\x0e\x02\x03\x0a\x04\x02\x02\x02a\x00\x00"
    odd = [
        (b"\x02\x01\x0e\x02\x00\x00", -1),
        (b"\x02\x03\x02\x00\x00", -2),
        (b"\x02\x00\x01\x00\x00", -1),
        (b"\x02\x00\x03\x00\x00", -2),
        (b"\x02\x00\x00\x02\x01\x00\x00\x00", -1),
        (b"\x02\x00\x00\x02\x04\x01\x00\x00", -1),
        (b"\x02\x00\x00\x00\x02\x02k\x03\x00\x00", -2),
    ]
    found, faults = parsed(source, [sound, *(value for value, _ in odd), null, wordy])
    assert [(row["n"], row["color"]) for row in found] == [(7, "blue"), (None, "red"), (7, "blue")]
    assert {at: fault[fault.index(": ") :] for at, fault in faults.items()} == {
        at: f": there is no choice {number}" for at, (_, number) in enumerate(odd, 1)
    }


def test_avros_decimals_are_exact(tmp_path: Path) -> None:
    cents = {"logicalType": "decimal", "precision": 38, "scale": 2}
    kinds = {
        "ts": {"type": "long", "logicalType": "timestamp-millis"},
        "a": ["null", {"type": "bytes", **cents}],
        "b": {"type": "fixed", "name": "money", "size": 16, **cents},
        "c": "money",
    }
    (tmp_path / "row.avsc").write_text(json.dumps(numbers(**kinds)), encoding="utf-8")
    columns = "ts TIMESTAMP, a DECIMAL(38, 2), b DECIMAL(38, 2), c DECIMAL(5, 3)"
    source, most = source_of("avro", tmp_path, columns), 10**38 - 1
    plain = numbers(ts="long", a=["null", "bytes"], b="int", c="int")
    for field in plain["fields"][2:]:
        field["type"] = {"type": "fixed", "name": field["name"], "size": 16}

    def value(a: bytes | None, b: int = 0, c: int = 0) -> bytes:
        fixed = {name: n.to_bytes(16, "big", signed=True) for name, n in (("b", b), ("c", c))}
        return avro(plain, {"ts": 1, "a": a, **fixed})

    sound = [(most, -most, 9999), (-1, 1, -9999), (0, -128, 255), (None, 5, -5)]
    values = [
        value(None if a is None else a.to_bytes(17, "big", signed=True), b, c) for a, b, c in sound
    ]
    bad = [value(b""), value((most + 1).to_bytes(17, "big")), value(None, most + 1)]
    found, faults = parsed(source, [*values, *bad, value(None, c=10_000)])
    assert [tuple(row.values())[1:] for row in found] == [
        tuple(None if n is None else Decimal(f"{n}E-2") for n in numbers) for numbers in sound
    ]
    assert sorted(faults) == [4, 5, 6, 7]
    assert faults[7].endswith("in column c is not a DECIMAL(5, 3)")
    # The shortest bytes that a number needs, and those of nobody's.
    short, _ = parsed(source, [value(b"\xff"), value(b"\x00\x80"), value(b"\x80")])
    assert [str(row["a"]) for row in short] == ["-0.01", "1.28", "-1.28"]


@pytest.mark.parametrize("kind", ENCODED)
def test_a_registrys_header_is_passed_over(kind: str, tmp_path: Path) -> None:
    made = rows(Random(3), 20)
    source = source_of(kind, tmp_path, more=", registry_header = TRUE")
    values = [b"\x00\x00\x00\x00\x07" + ENCODED[kind](row) for row in made]
    found, faults = parsed(source, [*values, b"\x01" + values[0][1:], b"\x00\x00", None, b""])
    assert found == made
    assert sorted(faults) == [20, 21, 22, 23]


def test_a_run_goes_on_without_the_file_of_its_schema(tmp_path: Path) -> None:
    cluster, schema = Cluster(), tmp_path / "bid.avsc"
    bid = numbers(at="long", x="long")
    schema.write_text(json.dumps(bid), encoding="utf-8")
    text = (
        "CREATE STREAM a (at BIGINT, x BIGINT) WITH (format = 'kafka', timestamp = 'at', "
        f"unit = 'ms', servers = '{cluster.servers}', topic = 'a', value = 'avro', "
        f"schema = '{schema}'); SELECT a.x FROM a [RANGE 1 MINUTE];"
    )

    def run() -> list[int]:
        out = tmp_path / "out.jsonl"
        query = ps.sql(text, engine="local")
        query.local(
            sink=ps.jsonl(out), checkpoint=tmp_path / "state", available_now=True
        ).await_termination()
        return [json.loads(line)["x"] for line in out.read_text().splitlines()]

    cluster.send("a", 0, avro(bid, {"at": 1, "x": 1}))
    assert run() == [1]
    schema.unlink()
    cluster.send("a", 0, avro(bid, {"at": 2, "x": 2}))
    assert run() == [1, 2]
    # The same, written in another way, is the same; another one is not.
    schema.write_text(json.dumps({**bid, "doc": "a bid"}, indent=2), encoding="utf-8")
    assert run() == [1, 2]
    schema.write_text(json.dumps(numbers(x="long", at="long")), encoding="utf-8")
    with pytest.raises(SourceError, match="not the one that this checkpoint began with"):
        run()
    schema.unlink()
    cluster.send("a", 0, b"\xff")
    with pytest.raises(SourceError, match=r"malformed row in a\[0\]@2: .* is not Avro of that sch"):
        run()


def test_a_schema_that_is_nowhere_is_missed_by_the_run(tmp_path: Path) -> None:
    cluster = Cluster()
    text = (
        "CREATE STREAM a (ts BIGINT) WITH (format = 'kafka', timestamp = 'ts', unit = 'ms', "
        f"servers = '{cluster.servers}', topic = 'a', value = 'avro', schema = 'gone.avsc');"
        "SELECT a.ts FROM a [RANGE 1 MINUTE];"
    )
    query = ps.sql(text, engine="local")
    with pytest.raises(SourceError, match=r"there is no file gone.avsc"):
        query.local(sink=ps.jsonl(tmp_path / "o"), checkpoint=tmp_path / "s", available_now=True)
