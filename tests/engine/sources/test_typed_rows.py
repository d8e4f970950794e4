"""DECIMALs, bytes, wall times and nested columns in files of every format, and out again."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.cql import parse
from penstock.errors import SourceError
from penstock.kernels.jsontext.jsonlines import json_lines
from penstock.query import Query
from support.engines.runs import Place, run_local, run_spark
from support.streams.views import told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = "ts BIGINT, d DECIMAL(6, 2), raw BINARY, wall TIMESTAMP_NTZ, t TIMESTAMP"
NESTED = (
    "ts BIGINT, meta STRUCT<city: STRING, at: STRUCT<lat: DOUBLE, seen: TIMESTAMP>>, "
    "tags ARRAY<STRING>, props MAP<STRING, DECIMAL(5, 2)>, people ARRAY<STRUCT<name: STRING>>"
)
OBJECTS: list[dict[str, Any]] = [
    {
        "ts": 1,
        "meta": {"city": "Graz", "at": {"lat": 47.07, "seen": "2026-01-01T00:00:00Z"}, "more": 1},
        "tags": ["a", "b"],
        "props": {"size": 1.005, "n": None},
        "people": [{"name": "Ada"}],
    },
    {"ts": 2, "meta": None, "tags": [None], "props": {}, "people": None},
    {"ts": 3, "meta": {"at": None}, "tags": None},
]


def asked(folder: Path, columns: str, select: str, format_: str, more: str = "") -> Query:
    """A query over a stream of files in the folder."""
    options = f"format = '{format_}', path = '{folder / 'in'}', timestamp = 'ts', unit = 's'"
    return parse(f"CREATE STREAM s ({columns}) WITH ({options}{more}); SELECT {select}")


def lines(folder: Path, *texts: str, name: str = "1.csv") -> None:
    """A file of lines in the folder of the stream."""
    (folder / "in").mkdir(exist_ok=True)
    (folder / "in" / name).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")


def results(query: Query, folder: Path, kind: str = "parquet") -> list[tuple[Any, ...]]:
    """What a run gives, in the order of its rows."""
    place = Place(folder, kind)
    run_local(query, place)
    return sorted(place.results(query), key=str)


def test_csv_has_decimals_bytes_and_times_of_a_zone(tmp_path: Path) -> None:
    lines(
        tmp_path,
        "ts,d,raw,wall,t",
        "1,1.5,é,2026-03-29 02:30:00,2026-03-29 02:30:00",
        "2,-9999.99,,,2026-10-25T02:30:00",
        "3,1.005, x ,2026-01-01,2026-01-01 12:00:00+05:00",
    )
    zone = ", timezone = 'Europe/Vienna'"
    query = asked(tmp_path, COLUMNS, "d, raw, wall, t FROM s [NOW]", "csv", zone)
    assert results(query, tmp_path) == [
        (
            Decimal("-9999.99"),
            None,
            None,
            datetime(2026, 10, 25, 0, 30, tzinfo=UTC),
        ),
        (
            Decimal("1.01"),
            b" x ",
            datetime(2026, 1, 1),
            datetime(2026, 1, 1, 7, tzinfo=UTC),
        ),
        (
            Decimal("1.50"),
            "é".encode(),
            datetime(2026, 3, 29, 2, 30),
            datetime(2026, 3, 29, 1, 30, tzinfo=UTC),
        ),
    ]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("1,10000,,,", "'10000' in column d is not a DECIMAL(6, 2)"),
        ("1,NaN,,,", "'NaN' in column d is not a DECIMAL(6, 2)"),
        ("1,1,,2026-01-01 00:00:00Z,", "in column wall is not a TIMESTAMP_NTZ"),
    ],
)
def test_values_that_are_none_are_malformed(row: str, said: str, tmp_path: Path) -> None:
    lines(tmp_path, "ts,d,raw,wall,t", "0,1,,,", row)
    query = asked(tmp_path, COLUMNS, "d, wall FROM s [NOW]", "csv")
    with pytest.raises(SourceError, match="malformed row") as caught:
        run_local(query, Place(tmp_path))
    assert said in str(caught.value)
    assert "line 3" in str(caught.value)


def test_json_has_numbers_or_texts_and_base64(tmp_path: Path) -> None:
    rows = [
        {"ts": 1, "d": 1.005, "raw": b64encode(b"\0\xff").decode(), "wall": "2026-01-01T01:02:03"},
        {"ts": 2, "d": "-2.50", "t": "2026-07-01 12:00:00"},
        {"ts": 3, "d": 9999.99, "raw": ""},
    ]
    lines(tmp_path, *map(json.dumps, rows), name="1.json")
    zone = ", timezone = 'Europe/Vienna'"
    query = asked(tmp_path, COLUMNS, "d, raw, wall, t FROM s [NOW]", "json", zone)
    found = [
        (Decimal("-2.50"), None, None, datetime(2026, 7, 1, 10, tzinfo=UTC)),
        (Decimal("1.01"), b"\0\xff", datetime(2026, 1, 1, 1, 2, 3), None),
        (Decimal("9999.99"), b"", None, None),
    ]
    assert results(query, tmp_path) == found


def test_parquet_has_them_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    table = pa.table(
        {
            "ts": [1, 2],
            "d": pa.array([Decimal("1.5"), None], pa.decimal128(9, 1)),
            "raw": pa.array([b"\xff", None], pa.binary()),
            "wall": pa.array([datetime(2026, 1, 1), None], pa.timestamp("ms")),
            "t": pa.array([datetime(2026, 7, 1, 12), None], pa.timestamp("us")),
        }
    )
    pq.write_table(table, tmp_path / "in" / "1.parquet")
    zone = ", timezone = 'Europe/Vienna'"
    query = asked(tmp_path, COLUMNS, "d, raw, wall, t FROM s [NOW]", "parquet", zone)
    moment = datetime(2026, 7, 1, 10, tzinfo=UTC)
    expected = [(Decimal("1.50"), b"\xff", datetime(2026, 1, 1), moment), (None,) * 4]
    assert results(query, tmp_path) == expected


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.int64()), pa.large_list(pa.int64()), pa.list_(pa.int64(), 2)]
)
def test_parquet_has_lists_of_whatever_kind(kind: pa.DataType, tmp_path: Path) -> None:
    """Those of one length, say of embeddings, too."""
    (tmp_path / "in").mkdir()
    table = pa.table({"ts": [1, 2], "a": pa.array([[3, 4], None], kind)})
    pq.write_table(table, tmp_path / "in" / "1.parquet")
    query = asked(tmp_path, "ts BIGINT, a ARRAY<BIGINT>", "a, a[1] AS last FROM s [NOW]", "parquet")
    assert results(query, tmp_path) == [(None, None), ([3, 4], 4)]


def test_parquet_with_more_digits_than_declared_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    table = pa.table({"ts": [1], "d": pa.array([Decimal("1.555")], pa.decimal128(6, 3))})
    pq.write_table(table, tmp_path / "in" / "1.parquet")
    query = asked(tmp_path, "ts BIGINT, d DECIMAL(6, 2)", "d FROM s [NOW]", "parquet")
    with pytest.raises(SourceError, match=r"decimal128\(6, 3\), which cannot be read as DECIMAL"):
        run_local(query, Place(tmp_path))


def test_columns_of_types_that_are_not_held_do_not_matter_if_nobody_reads_them(
    tmp_path: Path,
) -> None:
    (tmp_path / "in").mkdir()
    odd = pa.array([1], pa.duration("s"))
    pq.write_table(pa.table({"ts": [1], "k": [5], "odd": odd}), tmp_path / "in" / "1.parquet")
    query = asked(tmp_path, "ts BIGINT, k INT, odd INTERVAL", "k FROM s [NOW]", "parquet")
    assert results(query, tmp_path) == [(5,)]


# ── nested columns ────────────────────────────────────────────────────────────────────────────────

INSIDE = (
    "s.ts, meta.city, s.meta.at.lat, meta.at.seen, GET(tags, 1) AS second, props['size'] AS size, "
    "GET(people, 0).name FROM s [NOW]"
)
FOUND = [
    (
        *(1, "Graz", 47.07, datetime(2026, 1, 1, tzinfo=UTC), "b"),
        *(Decimal("1.01"), "Ada"),
    ),
    (2, None, None, None, None, None, None),
    (3, None, None, None, None, None, None),
]


def written(folder: Path, format_: str) -> None:
    """The objects as a file of the format."""
    if format_ == "json":
        lines(folder, *map(json.dumps, OBJECTS), name="1.json")
        return
    (folder / "in").mkdir(exist_ok=True)
    at = pa.struct([("lat", pa.float64()), ("seen", pa.timestamp("us", "UTC"))])
    meta = pa.struct([("city", pa.string()), ("at", at), ("more", pa.int8())])
    first = dict(OBJECTS[0], props=[("size", Decimal("1.01")), ("n", None)])
    place = {"lat": 47.07, "seen": datetime(2026, 1, 1, tzinfo=UTC)}
    first["meta"] = {"city": "Graz", "at": place, "more": 1}
    rows = [first, dict(OBJECTS[1], props=[]), OBJECTS[2]]
    people = pa.list_(pa.struct([("name", pa.string()), ("age", pa.int32())]))
    props = pa.map_(pa.string(), pa.decimal128(5, 2))
    kinds = {"ts": pa.int64(), "meta": meta, "tags": pa.list_(pa.string()), "props": props}
    kinds["people"] = people
    table = pa.Table.from_pylist(rows, pa.schema(list(kinds.items())))
    pq.write_table(table, folder / "in" / "1.parquet")


@pytest.mark.parametrize("format_", ["json", "parquet"])
def test_what_is_inside_is_read_by_its_name(format_: str, tmp_path: Path) -> None:
    written(tmp_path, format_)
    assert results(asked(tmp_path, NESTED, INSIDE, format_), tmp_path) == FOUND


@pytest.mark.parametrize("format_", ["json", "parquet"])
@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_nested_columns_pass_through_a_join(format_: str, kind: str, tmp_path: Path) -> None:
    written(tmp_path, format_)
    select = "a.meta, b.tags, b.props FROM s [NOW] AS a, s [NOW] AS b WHERE a.ts = b.ts"
    query = asked(tmp_path, NESTED, select, format_)
    found = results(query, tmp_path, kind)
    moment = "2026-01-01T00:00:00.000000Z" if kind == "jsonl" else datetime(2026, 1, 1, tzinfo=UTC)
    meta = {"city": "Graz", "at": {"lat": 47.07, "seen": moment}}
    props: Any = [("size", Decimal("1.01")), ("n", None)]
    nothing: Any = []
    if kind == "jsonl":
        props, nothing = {"size": 1.01, "n": None}, {}
    expected = [(None, [None], nothing), (meta, ["a", "b"], props)]
    assert found == sorted([*expected, ({"city": None, "at": None}, None, None)], key=str)


@pytest.mark.parametrize("format_", ["json", "parquet"])
def test_what_is_inside_is_a_key_a_group_and_an_argument(format_: str, tmp_path: Path) -> None:
    written(tmp_path, format_)
    select = (
        "a.meta.city, COUNT(b.tags) AS tagged, SUM(b.props['size']) AS sizes "
        "FROM s [UNBOUNDED] AS a, s [UNBOUNDED] AS b WHERE a.meta.city = b.meta.city "
        "AND b.meta.at.lat > 40.0 GROUP BY a.meta.city EVERY 10 SECONDS"
    )
    query = asked(tmp_path, NESTED, select, format_)
    place = Place(tmp_path)
    run_local(query, place)
    ((*_, city, tagged, sizes),) = told(place, query)
    assert (city, tagged, sizes) == ("Graz", 1, Decimal("1.01"))


def test_json_lines_keep_the_digits_of_decimals_inside() -> None:
    kind = pa.struct(
        [("d", pa.decimal128(38, 20)), ("f", pa.float64()), ("l", pa.list_(pa.bool_()))]
    )
    exact = {"d": Decimal("1.10"), "f": float("nan"), "l": [True, None]}
    rows = pa.record_batch({"m": pa.array([exact, None], kind)})
    first = '{"m":{"d":1.10000000000000000000,"f":null,"l":[true,null]}}'
    assert json_lines(rows).to_pybytes().decode() == first + '\n{"m":null}\n'


def test_an_item_that_is_not_there_is_named_with_its_line(tmp_path: Path) -> None:
    written(tmp_path, "json")
    query = asked(tmp_path, NESTED, "tags[1] AS second FROM s [NOW]", "json")
    with pytest.raises(SourceError, match=r"line 2: there is no tags\[1\]: the array has 1 items"):
        run_local(query, Place(tmp_path))


def test_rows_without_an_item_are_dropped_if_malformed_ones_are(tmp_path: Path) -> None:
    written(tmp_path, "json")
    more = ", malformed = 'drop'"
    query = asked(tmp_path, NESTED, "ts, tags[1] AS second FROM s [NOW]", "json", more)
    assert results(query, tmp_path) == [(1, "b"), (3, None)]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"ts": 1, "meta": {"city": 5}}', "in column meta is not a STRUCT"),
        ('{"ts": 1, "meta": "Graz"}', "in column meta is not a STRUCT"),
        ('{"ts": 1, "props": {"size": 1234.5}}', "in column props is not a MAP"),
        ('{"ts": 1, "tags": {"a": 1}}', "in column tags is not a ARRAY"),
    ],
)
def test_nested_values_of_another_shape_are_malformed(line: str, said: str, tmp_path: Path) -> None:
    lines(tmp_path, line, name="1.json")
    select = "ts, meta, props, tags FROM s [NOW]"
    query = asked(tmp_path, NESTED, select, "json")
    with pytest.raises(SourceError, match="malformed row") as caught:
        run_local(query, Place(tmp_path))
    assert said in str(caught.value)


@pytest.mark.parametrize("format_", ["csv", "json"])
@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("DECIMAL(38, 38)", "19900400.5"),
        ("DECIMAL(38, 10)", "27959099055959347099909999400106906"),
    ],
)
def test_decimals_whose_zeros_have_no_room_are_malformed(
    column: str, value: str, format_: str, tmp_path: Path
) -> None:
    """Whatever else is in the file; in 128 bits they would be other numbers."""
    text = f"ts,x\n1,{value}" if format_ == "csv" else f'{{"ts": 1, "x": {value}}}'
    lines(tmp_path, text, name=f"1.{format_}")
    query = asked(tmp_path, f"ts BIGINT, x {column}", "x FROM s [NOW]", format_)
    with pytest.raises(SourceError, match=f"in column x is not a {re.escape(column)}"):
        run_local(query, Place(tmp_path))


@pytest.mark.parametrize(
    ("column", "good", "value", "bad"),
    [
        ("DOUBLE", "9007199254740993", 9007199254740992.0, '"x"'),
        ("FLOAT", "16777217", 16777216.0, "true"),
        ("ARRAY<DOUBLE>", "[9007199254740993, 1]", [9007199254740992.0, 1.0], "[true]"),
        ("DECIMAL(5, 2)", "1.5", Decimal("1.50"), r'"\ud83d"'),
        ("DECIMAL(38, 0)", "5", Decimal(5), "340282366920938463463374607431768211457"),
        ("DECIMAL(38, 38)", "0.5", Decimal("0.5"), "19900400.5"),
        ("MAP<STRING, INT>", '{"a": 1}', [("a", 1)], r'{"\ud83d": 1}'),
    ],
)
def test_a_malformed_row_of_json_harms_no_others(
    column: str, good: str, value: Any, bad: str, tmp_path: Path
) -> None:
    """Beside one, all rows of a file are read the slow way: numbers that round, halves of pairs and
    more digits than 128 bits hold."""
    lines(tmp_path, f'{{"ts": 1, "x": {good}}}', f'{{"ts": 2, "x": {bad}}}', name="1.json")
    more = ", malformed = 'drop'"
    query = asked(tmp_path, f"ts BIGINT, x {column}", "x FROM s [NOW]", "json", more)
    assert results(query, tmp_path) == [(value,)]


# ── on Spark ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.spark
def test_spark_gives_the_same_of_nested_columns_and_decimals(
    spark: SparkSession, tmp_path: Path
) -> None:
    written(tmp_path, "parquet")
    select = "a.meta, b.tags, b.props['size'] * 2 AS twice, a.meta.city FROM s [NOW] AS a, "
    query = asked(tmp_path, NESTED, select + "s [NOW] AS b WHERE a.ts = b.ts", "parquet")
    here, there = Place(tmp_path / "here"), Place(tmp_path / "there")
    run_local(query, here)
    run_spark(spark, query, there)
    found = sorted(there.results(query), key=str)
    assert found == sorted(here.results(query), key=str)
    assert [row[2] for row in found if row[3]] == [Decimal("2.02")]
