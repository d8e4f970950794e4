"""Reading real files of every format, sound and malformed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.engine.expressions.arrow_types import schema_of
from penstock.engine.sources import lines, parquet_rows, read
from penstock.engine.sources.read import Block, event_micros, read_file
from penstock.errors import Caret, SourceError
from penstock.query import DataType, Field, Source
from support.streams.blocks import rows

T = DataType
FIELDS = (Field("ts", T.BIGINT), Field("k", T.INT), Field("v", T.DOUBLE), Field("name", T.STRING))
ALL = ("ts", "k", "v", "name")


def source(format_: Any, *fields: Field, **rest: Any) -> Source:
    known = {"timestamp": "ts", "unit": "us", **rest}
    options = {name: known.pop(name) for name in ("header", "delimiter", "null") if name in known}
    return Source("s", fields or FIELDS, format_, options=tuple(options.items()), **known)


def put(path: Path, content: str | bytes | pa.Table) -> str:
    if isinstance(content, pa.Table):
        pq.write_table(content, path)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(content.encode() if isinstance(content, str) else content))
    else:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def blocks(stream: Source, path: str, columns: Sequence[str] | None = None) -> list[Block]:
    return list(read_file(stream, path, columns or [field.name for field in stream.fields]))


def positions(found: list[Block]) -> list[int]:
    return [
        place
        for block in found
        for place in (
            range(block.first_row, block.first_row + len(block.batch))
            if block.rows is None
            else block.rows.to_pylist()
        )
    ]


def failure(stream: Source, path: str) -> SourceError:
    with pytest.raises(SourceError) as caught:
        blocks(stream, path)
    return caught.value


CSV = 'ts,k,v,name\n10,1,0.5,a\n20,,,\n30,-3,NaN,""\n'
JSON = '{"ts": 10, "k": 1, "v": 0.5, "name": "a"}\n{"ts": 20}\n\n{"ts": 30, "k": -3, "x": [1]}\n'


# CSV


def test_csv_with_nulls_in_declared_types(tmp_path: Path) -> None:
    stream = source("csv")
    (block,) = blocks(stream, put(tmp_path / "a.csv", CSV))
    assert block.batch.schema == schema_of(stream.fields)
    assert block.batch.column("name").to_pylist() == ["a", None, ""]
    assert block.batch.column("k").to_pylist() == [1, None, -3]
    assert (block.first_row, block.rows, block.malformed) == (0, None, 0)


def test_csv_columns_are_matched_by_header_in_any_case_and_order(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", "\ufeffName; extra ;V;TS;k\r\nx;?;1.5;7;2\r\n")
    assert rows(blocks(source("csv", delimiter=";"), path)) == [(7, 2, 1.5, "x")]
    found = blocks(source("csv", delimiter=";"), path, ["name", "ts"])
    assert rows(found) == [(7, "x")]


def test_csv_without_header_goes_by_position(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", "1\t2\t3\tx\n4\t5\t6\ty")
    found = blocks(source("csv", header=False, delimiter="\t"), path, ["name", "k"])
    assert rows(found) == [(2, "x"), (5, "y")]


def test_csv_null_text(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", 'ts,k,v,name\n1,NA,NA,NA\n2,,,"NA"\n')
    found = blocks(source("csv", null="NA"), path)
    assert rows(found) == [(1, None, None, None), (2, None, None, "NA")]


@pytest.mark.parametrize("content", ["", "ts,k,v,name", "ts,k,v,name\n", "ts,k,v,name\n\n\n"])
def test_csv_without_rows(tmp_path: Path, content: str) -> None:
    assert rows(blocks(source("csv"), put(tmp_path / "a.csv", content))) == []


def test_csv_missing_column(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", "ts,k,nom\n1,2,3\n")
    assert str(failure(source("csv"), path)) == (
        f"{path} has no column v, which s declares\nhint: its columns are ts, k, nom; "
        "columns = 'fill' makes what is missing NULL, malformed = 'drop' skips such files"
    )
    assert rows(blocks(source("csv"), path, ["k"])) == [(2,)]


BAD_CSV = [
    ("11,two,1,a", "'two' in column k is not an INT"),
    ("11,3000000000,1,a", "'3000000000' in column k is not an INT"),
    ("11,1.5,1,a", "'1.5' in column k is not an INT"),
    ("11,0x10,1,a", "'0x10' in column k is not an INT"),
    ("11,1,one,a", "'one' in column v is not a DOUBLE"),
    ("11,1,1", "3 fields instead of 4: '11,1,1'"),
    ("11,1,1,a,b", "5 fields instead of 4: '11,1,1,a,b'"),
    (",1,1,a", "the event time ts is NULL"),
    ("9223372036854775807,1,1,a", "the event time ts, 9223372036854775807, is out of range"),
    ("yesterday,1,1,a", "'yesterday' in column ts is not a BIGINT"),
]


@pytest.mark.parametrize(("line", "message"), BAD_CSV)
def test_a_malformed_csv_row_fails_with_its_place(tmp_path: Path, line: str, message: str) -> None:
    path = put(tmp_path / "a.csv", f'ts,k,v,name\n10,1,0.5,"two\nlines"\n\n{line}\n30,3,1,c\n')
    assert str(failure(source("csv"), path)) == (
        f"malformed row in {path}, line 5: {message}\n"
        "hint: mend the file, or skip such rows with malformed = 'drop'"
    )


@pytest.mark.parametrize(("line", "_message"), BAD_CSV)
def test_a_malformed_csv_row_is_dropped_and_the_others_keep_their_places(
    tmp_path: Path, line: str, _message: str
) -> None:
    sound = [f"{10 * i},{i},{i / 2},n{i}" for i in range(6)]
    path = put(tmp_path / "a.csv", "\n".join(["ts,k,v,name", *sound[:2], line, *sound[2:], line]))
    found = blocks(source("csv", malformed="drop"), path)
    assert rows(found) == [(10 * i, i, i / 2, f"n{i}") for i in range(6)]
    assert positions(found) == [0, 1, 3, 4, 5, 6]
    assert sum(block.malformed for block in found) == 2


def test_values_that_only_the_slow_path_takes_are_no_faults(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", "ts,k,v,name\n +1 ,\t+2,+.5,  x \n2,x,1,\n")
    found = blocks(source("csv", malformed="drop"), path)
    assert rows(found) == [(1, 2, 0.5, "  x ")]


def test_text_that_is_not_utf8_is_malformed(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", b"ts,k,v,name\n1,1,1,a\n2,2,2,\xff\n")
    assert failure(source("csv"), path).message.endswith("'\ufffd' in column name is not a STRING")
    assert rows(blocks(source("csv", malformed="drop"), path)) == [(1, 1, 1.0, "a")]


def test_csv_timestamps_with_and_without_zone(tmp_path: Path) -> None:
    stream = source("csv", Field("ts", T.TIMESTAMP), Field("d", T.DATE), unit=None)
    path = put(
        tmp_path / "a.csv",
        "ts,d\n2024-01-31 10:00:00.25,2024-02-29\n2024-01-31T10:00:00+02:00,\n2024-01-31T10:00Z,\n",
    )
    (block,) = blocks(stream, path)
    base = datetime(2024, 1, 31, 10, tzinfo=UTC)
    assert block.batch.column("ts").to_pylist() == [
        base.replace(microsecond=250_000),
        base.replace(hour=8),
        base,
    ]
    assert block.batch.column("d").to_pylist() == [date(2024, 2, 29), None, None]
    assert event_micros(stream, block.batch)[2] == int(base.timestamp()) * 1_000_000


def test_an_unreadable_event_time_is_malformed(tmp_path: Path) -> None:
    stream = source("csv", Field("ts", T.TIMESTAMP), unit=None)
    path = put(tmp_path / "a.csv", "ts\n2024-01-31\n2024-02-30\n2024-03-31\n")
    message = failure(stream, path).message
    assert message == (
        f"malformed row in {path}, line 3: '2024-02-30' in column ts is not a TIMESTAMP"
    )


@pytest.mark.parametrize("before", ["", "1,1,0.5,a\n", '1,1,0.5,"b\nc"\n\n'])
def test_a_malformed_row_of_several_lines_is_named_by_its_first(
    tmp_path: Path, before: str
) -> None:
    path = put(tmp_path / "a.csv", f'ts,k,v,name\n{before}2,x,0.5,"one\ntwo\nthree"\n3,3,1,d\n')
    line = 2 + before.count("\n")
    message = f"malformed row in {path}, line {line}: 'x' in column k is not an INT"
    assert failure(source("csv"), path).message == message


# JSON


def test_json_with_missing_and_unknown_members(tmp_path: Path) -> None:
    stream = source("json")
    (block,) = blocks(stream, put(tmp_path / "a.json", JSON))
    assert block.batch.schema == schema_of(stream.fields)
    assert rows([block]) == [(10, 1, 0.5, "a"), (20, None, None, None), (30, -3, None, None)]


BAD_JSON = [
    ('{"ts": 11, "k": "two"}', "'\"two\"' in column k is not an INT"),
    ('{"ts": 11, "k": 3000000000}', "'3000000000' in column k is not an INT"),
    ('{"ts": 11, "k": 1.5}', "'1.5' in column k is not an INT"),
    ('{"ts": 11, "k": true}', "'true' in column k is not an INT"),
    ('{"ts": 11, "v": "1"}', "'\"1\"' in column v is not a DOUBLE"),
    ('{"ts": 11, "name": 5}', "'5' in column name is not a STRING"),
    ('{"ts": 11, "name": "\\ud800"}', "'\"\\ud800\"' in column name is not a STRING"),
    ('{"ts": 11, "name": {"a": 1}}', "'{\"a\": 1}' in column name is not a STRING"),
    ('{"ts": 11', "'{\"ts\": 11' is not a JSON object"),
    ("[11]", "'[11]' is not a JSON object"),
    ('{"ts": 11}{"ts": 12}', '\'{"ts": 11}{"ts": 12}\' is not a JSON object'),
    ('{"k": 1}', "the event time ts is NULL"),
]


@pytest.mark.parametrize(("line", "message"), BAD_JSON)
def test_a_malformed_json_row_fails_with_its_place(tmp_path: Path, line: str, message: str) -> None:
    path = put(tmp_path / "a.json", f'{{"ts": 1}}\n\n{line}\n{{"ts": 2}}\n')
    assert failure(source("json"), path).message == f"malformed row in {path}, line 3: {message}"


@pytest.mark.parametrize(("line", "_message"), BAD_JSON)
def test_a_malformed_json_row_is_dropped(tmp_path: Path, line: str, _message: str) -> None:
    path = put(tmp_path / "a.json", f'{line}\n{{"ts": 1, "name": "é"}}\n{line}\n{{"ts": 2}}')
    found = blocks(source("json", malformed="drop"), path, ALL)
    assert rows(found) == [(1, None, None, "é"), (2, None, None, None)]
    assert positions(found) == [1, 3]
    assert found[0].malformed == 2


def test_json_text_that_is_not_utf8_is_malformed(tmp_path: Path) -> None:
    path = put(tmp_path / "a.json", b'{"ts": 1, "name": "\xff"}\n{"ts": 2}\n')
    assert rows(blocks(source("json", malformed="drop"), path)) == [(2, None, None, None)]


def test_json_times_are_text(tmp_path: Path) -> None:
    stream = source(
        "json", Field("ts", T.TIMESTAMP), Field("d", T.DATE), unit=None, malformed="drop"
    )
    path = put(
        tmp_path / "a.json",
        '{"ts": "2024-01-31T10:00:00Z", "d": "2024-01-31"}\n{"ts": "?"}\n'
        '{"ts": "2024-01-31T10:00:00Z", "d": "31.1.2024"}\n',
    )
    assert rows(blocks(stream, path)) == [
        (datetime(2024, 1, 31, 10, tzinfo=UTC), date(2024, 1, 31))
    ]


# Parquet


def test_parquet_columns_are_cast_to_the_declared_types(tmp_path: Path) -> None:
    table = pa.table(
        {
            "TS": pa.array([1, 2], pa.int32()),
            "k": pa.array([1, None], pa.uint8()),
            "v": pa.array([Decimal("1.5"), None], pa.decimal128(5, 1)),
            "name": pa.array(["a", "b"]).dictionary_encode(),
            "more": [0, 0],
        }
    )
    stream = source("parquet")
    (block,) = blocks(stream, put(tmp_path / "a.parquet", table))
    assert block.batch.schema == schema_of(stream.fields)
    assert rows([block]) == [(1, 1, 1.5, "a"), (2, None, None, "b")]


def test_parquet_integers_that_do_not_fit_are_malformed(tmp_path: Path) -> None:
    table = pa.table({"ts": [1, 2, None, 4], "k": [1, 1 << 40, 3, 4]})
    fields = (Field("ts", T.BIGINT), Field("k", T.INT))
    path = put(tmp_path / "a.parquet", table)
    assert failure(source("parquet", *fields), path).message == (
        f"malformed row in {path}, row 2: '1099511627776' in column k is not an INT"
    )
    found = blocks(source("parquet", *fields, malformed="drop"), path)
    assert (rows(found), positions(found), found[0].malformed) == ([(1, 1), (4, 4)], [0, 3], 2)


def test_parquet_unsigned_integers_beyond_bigint_are_malformed(tmp_path: Path) -> None:
    table = pa.table({"ts": pa.array([1, 1 << 63], pa.uint64())})
    stream = source("parquet", Field("ts", T.BIGINT), malformed="drop")
    assert rows(blocks(stream, put(tmp_path / "a.parquet", table))) == [(1,)]


def test_parquet_times_of_any_unit_are_microseconds(tmp_path: Path) -> None:
    stream = source("parquet", Field("ts", T.TIMESTAMP), unit=None)
    for unit, zone in (("ms", None), ("us", "Europe/Berlin"), ("ns", "UTC")):
        moments = pa.array([1_700_000_000, None], pa.timestamp("s")).cast(pa.timestamp(unit, zone))
        path = put(tmp_path / f"{unit}.parquet", pa.table({"ts": moments[:1]}))
        (block,) = blocks(stream, path)
        assert event_micros(stream, block.batch).tolist() == [1_700_000_000_000_000]


@pytest.mark.parametrize(
    ("column", "field", "found"),
    [
        (["1"], Field("k", T.INT), "string"),
        ([1.5], Field("k", T.INT), "double"),
        ([1], Field("k", T.STRING), "int64"),
        ([1], Field("k", T.TIMESTAMP), "int64"),
        ([[1]], Field("k", T.BIGINT), "list<element: int64>"),
    ],
)
def test_a_parquet_column_of_another_kind_is_an_error(
    tmp_path: Path, column: list[Any], field: Field, found: str
) -> None:
    path = put(tmp_path / "a.parquet", pa.table({"k": column}))
    assert str(failure(source("parquet", field, timestamp=None), path)) == (
        f"column k of {path} is {found}, which cannot be read as {field.type}\n"
        "hint: declare k in s with the type that the file has; malformed = 'drop' skips such files"
    )


def test_a_missing_parquet_column(tmp_path: Path) -> None:
    path = put(tmp_path / "a.parquet", pa.table({"ts": [1]}))
    assert failure(source("parquet"), path).message == f"{path} has no column k, which s declares"


# All formats


def test_compressed_files_and_uris(tmp_path: Path) -> None:
    expected = rows(blocks(source("json"), put(tmp_path / "a.json", JSON)))
    assert rows(blocks(source("json"), put(tmp_path / "a.json.gz", JSON))) == expected
    assert len(rows(blocks(source("csv"), put(tmp_path / "a.csv.gz", CSV)))) == 3
    assert rows(blocks(source("json"), (tmp_path / "a.json").as_uri())) == expected


@pytest.mark.parametrize("format_", ["csv", "json", "parquet"])
def test_a_vanished_file_is_named(tmp_path: Path, format_: str) -> None:
    path = str(tmp_path / "gone")
    text = "CREATE STREAM s WITH (path = 'x')"
    stream = source(format_, places={"path": Caret(text, 29, 32)})
    error = failure(stream, path)
    assert error.message == f"the input file {path} of s has vanished"
    assert "'x'" in str(error)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = put(tmp_path / "a.parquet", b"PAR1 but no more")
    assert failure(source("parquet"), path).message.startswith(f"cannot read {path} as parquet: ")
    (tmp_path / "a.csv.gz").write_bytes(b"not compressed")
    assert "cannot read" in failure(source("csv"), str(tmp_path / "a.csv.gz")).message


@pytest.mark.parametrize("piece", [1, 7, 40, 1000])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_pieces_and_blocks_do_not_change_what_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int, newline: str
) -> None:
    names = [f'"line {i},\n""quoted"""' if i % 3 else f"n{i}" for i in range(40)]
    lines_of = [f"{i},{'x' if i % 7 == 5 else i},{i}.5,{names[i]}" for i in range(40)]
    csv_path = put(tmp_path / "a.csv", newline.join(["ts,k,v,name", *lines_of, ""]))
    objects = [{"ts": i, "k": "x" if i % 7 == 5 else i, "name": f"é{i}"} for i in range(40)]
    json_path = put(tmp_path / "a.json", newline.join(map(json.dumps, objects)))
    for format_, path in (("csv", csv_path), ("json", json_path)):
        stream = source(format_, malformed="drop")
        whole = blocks(stream, path)
        with monkeypatch.context() as patch:
            patch.setattr(lines, "PIECE_BYTES", piece)
            patch.setattr(read, "BLOCK_ROWS", 3)
            parts = blocks(stream, path)
            error = failure(source(format_), path)
        assert rows(parts) == rows(whole)
        assert positions(parts) == positions(whole) == [i for i in range(40) if i % 7 != 5]
        assert sum(block.malformed for block in parts) == 5
        assert max(len(block.batch) for block in parts) <= 3
        assert str(error) == str(failure(source(format_), path))


def test_parquet_comes_in_blocks_with_running_positions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.parquet"
    ticks = pa.array(range(100), pa.int64())
    pq.write_table(pa.table({"ts": ticks}), path, row_group_size=30)
    monkeypatch.setattr(parquet_rows, "BLOCK_ROWS", 25)
    stream = source("parquet", Field("ts", T.BIGINT))
    found = blocks(stream, str(path))
    assert len(found) >= 4
    assert rows(found) == [(i,) for i in range(100)]
    assert positions(found) == list(range(100))


def test_a_table_has_rows_even_if_no_column_is_asked_for(tmp_path: Path) -> None:
    table = source("csv", timestamp=None, is_table=True)
    (block,) = read_file(table, put(tmp_path / "a.csv", CSV), [])
    assert len(block.batch) == 3


@pytest.mark.parametrize(("unit", "scale"), [("us", 1), ("ms", 1000), ("s", 1_000_000)])
def test_event_times_are_scaled_by_their_unit(unit: str, scale: int) -> None:
    batch = pa.record_batch({"ts": pa.array([-5, 0, 7])})
    assert event_micros(source("csv", unit=unit), batch).tolist() == [-5 * scale, 0, 7 * scale]
    assert event_micros(source("csv", unit=unit), batch).dtype == np.int64


def test_event_times_that_would_overflow_are_refused() -> None:
    batch = pa.record_batch({"ts": pa.array([1 << 50])})
    with pytest.raises(SourceError, match="too far from 1970"):
        event_micros(source("csv", unit="s"), batch)


BEYOND = {
    "DATE": ([2**31 - 1, -(2**31), 2_932_897, -719_163], pa.date32()),
    "TIMESTAMP": ([2**63 - 1, -(2**63), 253_402_300_800_000_000], pa.timestamp("us")),
    "TIMESTAMP in ms": ([2**62, -(2**62), 253_402_300_800_000], pa.timestamp("ms")),
}


@pytest.mark.parametrize("kind", BEYOND)
def test_parquet_times_beyond_the_calendar_are_malformed(tmp_path: Path, kind: str) -> None:
    """Years before 1 and after 9999 would be written as no reader expects them, or wrap."""
    numbers, arrow = BEYOND[kind]
    whole = pa.int32() if kind == "DATE" else pa.int64()
    times = pa.array([0, *numbers], whole).cast(arrow)
    path = put(tmp_path / "a.parquet", pa.table({"ts": list(range(len(times))), "t": times}))
    type_ = T(kind.split()[0])
    fields = (Field("ts", T.BIGINT), Field("t", type_))
    assert failure(source("parquet", *fields), path).message == (
        f"malformed row in {path}, row 2: '{numbers[0]}' in column t is not a {type_}"
    )
    (kept,) = blocks(source("parquet", *fields, malformed="drop"), path)
    assert kept.batch.column("ts").to_pylist() == [0]
    assert kept.malformed == len(numbers)
