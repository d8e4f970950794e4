"""Names in any case: in JSON and Parquet, outside and inside of columns; the exact one first."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.json as pajson
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.cql import parse
from penstock.engine.sources.json_rows import parse_lines
from penstock.engine.sources.kafka.avro_values import avro_values
from penstock.engine.sources.lines import Piece
from penstock.errors import SourceError
from penstock.query.source import Field
from penstock.query.types import DataType
from support.engines.runs import Place, run_local

COLUMNS = "ts BIGINT, city STRING, meta STRUCT<Lat: DOUBLE, tags: ARRAY<STRUCT<name: STRING>>>"
SELECT = "SELECT CITY, s.META.lat, GET(meta.TAGS, 0).Name FROM s [NOW]"
FIELDS = [Field("ts", DataType.BIGINT), Field("k", DataType.BIGINT)]
INNER = [Field("m", DataType("STRUCT<k: BIGINT, of: STRUCT<k: BIGINT>>"))]


def written(folder: Path, format_: str, *rows: dict[str, Any]) -> None:
    """Rows as a file of the format, with names as the rows have them."""
    (folder / "in").mkdir(exist_ok=True)
    if format_ == "json":
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        (folder / "in" / "1.json").write_text(text, encoding="utf-8")
    else:
        pq.write_table(pa.Table.from_pylist(list(rows)), folder / "in" / "1.parquet")


def found(folder: Path, format_: str, columns: str = COLUMNS, select: str = SELECT) -> list[Any]:
    """What a run gives."""
    options = f"format = '{format_}', path = '{folder / 'in'}', timestamp = 'ts', unit = 's'"
    query = parse(f"CREATE STREAM s ({columns}) WITH ({options}); {select}")
    place = Place(folder)
    run_local(query, place)
    return sorted(place.results(query), key=str)


@pytest.mark.parametrize("format_", ["json", "parquet"])
def test_names_match_in_any_case_outside_and_inside(format_: str, tmp_path: Path) -> None:
    inside = {"LAT": 1.5, "Tags": [{"NAME": "a", "x": 1}], "lon": 2.0}
    nothing = {"TS": 2, "City": None, "Meta": None}
    written(tmp_path, format_, {"TS": 1, "City": "Graz", "Meta": inside}, nothing)
    assert found(tmp_path, format_) == [("Graz", 1.5, "a"), (None, None, None)]


@pytest.mark.parametrize("format_", ["json", "parquet"])
def test_a_whole_column_has_the_names_that_were_declared(format_: str, tmp_path: Path) -> None:
    written(tmp_path, format_, {"ts": 1, "META": {"lat": 1.5, "TAGS": [{"Name": "a"}]}})
    columns = COLUMNS.replace("city STRING, ", "")
    [(meta,)] = found(tmp_path, format_, columns, "SELECT meta FROM s [NOW]")
    assert meta == {"Lat": 1.5, "tags": [{"name": "a"}]}


@pytest.mark.parametrize("format_", ["json", "parquet"])
def test_the_exact_name_goes_first(format_: str, tmp_path: Path) -> None:
    inside = {"lat": 1.0, "Lat": 2.0, "tags": None, "LAT": 3.0}
    written(tmp_path, format_, {"ts": 1, "CITY": "no", "city": "yes", "City": "no", "meta": inside})
    columns = COLUMNS.replace(", tags: ARRAY<STRUCT<name: STRING>>", "")
    assert found(tmp_path, format_, columns, "SELECT city, meta.lat FROM s [NOW]") == [("yes", 2.0)]


@pytest.mark.parametrize("format_", ["json", "parquet"])
@pytest.mark.parametrize(
    "row", [{"CITY": "a", "City": "b"}, {"meta": {"LAT": 1.0, "lat": 2.0}, "city": "a"}]
)
def test_several_that_are_not_exact_are_refused_by_their_names(
    format_: str, row: dict[str, Any], tmp_path: Path
) -> None:
    written(tmp_path, format_, {"ts": 1, "meta": {"Lat": 1.0}, **row})
    columns = COLUMNS.replace(", tags: ARRAY<STRUCT<name: STRING>>", "")
    said = "differ in case alone, and none is (city|Lat)"
    with pytest.raises(SourceError, match=said):
        found(tmp_path, format_, columns, "SELECT city, meta.lat FROM s [NOW]")


NAMES = st.sampled_from(["k", "K", "\\u006b", "\\u004B", "kk", "of", "OF"])
VALUES = st.sampled_from(["1", "2", "null"])


def _object(names: st.SearchStrategy[str], values: st.SearchStrategy[str]) -> Any:
    pairs = st.lists(st.tuples(names, values), max_size=3, unique_by=lambda pair: pair[0])
    inside = st.one_of(pairs.map(lambda each: ", ".join(f'"{n}": {v}' for n, v in each)))
    return inside.map(lambda text: f"{{{text}}}")


LINES = st.lists(_object(NAMES, VALUES), min_size=1, max_size=4)


def _alone(fields: list[Field], line: str) -> Any:
    """What a row is by itself, read value by value."""
    # Arrow does not read a line with a MAP, which makes it the slow way.
    extra = Field("extra", DataType("MAP<STRING, STRING>"))
    parsed = parse_lines([*fields, extra], Piece(line.encode(), 1))
    [row] = parsed.batch.to_pylist()
    return {**row, "extra": None}, set(parsed.faults)


@given(LINES)
def test_a_row_is_the_same_whatever_stands_around_it(lines: list[str]) -> None:
    """Quick or slow, alone or among rows that spell a name otherwise."""
    parsed = parse_lines(FIELDS, Piece("\n".join(lines).encode(), 1))
    for row, line in enumerate(lines):
        expected, faults = _alone(FIELDS, line)
        assert {**parsed.batch.slice(row, 1).to_pylist()[0], "extra": None} == expected, line
        assert (row in parsed.faults) == bool(faults), line


@given(st.lists(_object(st.just("m"), _object(NAMES, _object(NAMES, VALUES) | VALUES)), min_size=1))
def test_so_is_what_is_inside(lines: list[str]) -> None:
    parsed = parse_lines(INNER, Piece("\n".join(lines).encode(), 1))
    for row, line in enumerate(lines):
        expected, faults = _alone(INNER, line)
        assert {**parsed.batch.slice(row, 1).to_pylist()[0], "extra": None} == expected, line
        assert (row in parsed.faults) == bool(faults), line


@pytest.mark.parametrize(
    ("lines", "times"),
    [
        (['{"ts": 1, "k": 2}'] * 9, 1),
        (['{"ts": 1, "k": null, "note": "K"}'] * 9, 1),
        (['{"ts": 1, "K": 2}'] * 9, 2),
    ],
)
def test_nothing_is_read_row_by_row_where_one_spelling_does(
    lines: list[str], times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exact names are read once; others once more, with the names that are there."""
    read = mock.Mock(wraps=pajson.read_json)
    monkeypatch.setattr(pajson, "read_json", read)
    monkeypatch.setattr("penstock.engine.sources.json_rows._slow", None)
    parsed = parse_lines(FIELDS, Piece("\n".join(lines).encode(), 1))
    assert len(parsed.batch) == len(lines)
    assert read.call_count == times


def test_a_column_that_is_deeper_in_the_objects_is_found_there_in_any_case(tmp_path: Path) -> None:
    written(tmp_path, "json", {"ts": 1, "in": {"City": "Graz"}})
    with pytest.raises(SourceError, match=r"only as in\.City"):
        found(tmp_path, "json", "ts BIGINT, city STRING", "SELECT city FROM s [NOW]")


def test_avro_fields_match_in_any_case() -> None:
    fastavro = pytest.importorskip("fastavro")
    fields = [{"name": "TS", "type": "long"}, {"name": "K", "type": ["null", "long"]}]
    schema = {"type": "record", "name": "r", "fields": fields}
    stream = BytesIO()
    fastavro.schemaless_writer(stream, schema, {"TS": 1, "K": 7})
    columns, faults = avro_values(FIELDS, [stream.getvalue()], {}, json.dumps(schema))
    assert (columns["ts"].to_pylist(), columns["k"].to_pylist(), faults) == ([1], [7], {})


def test_a_frame_whose_members_differ_in_case_alone_is_not_read() -> None:
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    from penstock.engine.spark.frame_shape import shape_of

    def frame(*names: str) -> Any:
        inside = StructType([StructField(name, StringType()) for name in names])
        schema = StructType([StructField("ts", LongType()), StructField("meta", inside)])
        return SimpleNamespace(schema=schema, isStreaming=True)

    assert [name for name, _ in shape_of("s", frame("a", "A")).unheld] == ["meta"]
    assert [field.name for field in shape_of("s", frame("a", "B")).fields] == ["ts", "meta"]
