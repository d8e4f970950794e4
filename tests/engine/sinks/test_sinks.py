"""Sinks: the names, types and values that results have in each of them."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import penstock as ps
from penstock.errors import SinkError
from penstock.query import Query
from support.engines.runs import Place, run_local, run_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Every type, with values that are hard to write down.
MOMENT = datetime(2024, 2, 29, 23, 59, 59, 123456, tzinfo=UTC)
COLUMNS = {
    "t": pa.array([1, 2, 3], pa.int64()),
    "flag": pa.array([True, False, None]),
    "tiny": pa.array([-128, 127, None], pa.int8()),
    "small": pa.array([-32768, 32767, None], pa.int16()),
    "n": pa.array([-(2**31), 2**31 - 1, None], pa.int32()),
    "big": pa.array([-(2**63), 2**63 - 1, None], pa.int64()),
    "f": pa.array([0.1, math.inf, None], pa.float32()),
    "x": pa.array([1e-300, math.nan, -0.0], pa.float64()),
    "s": pa.array(['a "quoted" \\ back', "tab\tline\nnull\x00 é 漢 😀", ""]),
    "d": pa.array([date(1969, 12, 31), date(9999, 12, 31), None]),
    "at": pa.array([MOMENT, datetime(1, 1, 1, tzinfo=UTC), None], pa.timestamp("us", tz="UTC")),
}
SCRIPT = """
CREATE STREAM a (t BIGINT, flag BOOLEAN, tiny TINYINT, small SMALLINT, n INT, big BIGINT, f FLOAT,
                 x DOUBLE, s STRING, d DATE, at TIMESTAMP)
  WITH (format='parquet', path='{folder}/a', timestamp='t', unit='s', max_files=1,
        lateness='1 hour');
SELECT a.t, flag, tiny, small, n, big, f, x, s AS "some text, é", d, at, x + 1 AS more
FROM a [NOW]
"""
NAMES = [*COLUMNS, "more"]
NAMES[NAMES.index("s")] = "some text, é"


def every_type(folder: Path, files: int = 1) -> Query:
    (folder / "a").mkdir()
    for number in range(files):
        pq.write_table(pa.table(COLUMNS), folder / "a" / f"{number}.parquet")
    return ps.sql(SCRIPT.format(folder=folder)).query


def test_parquet_has_the_names_and_types_of_the_query(tmp_path: Path) -> None:
    query = every_type(tmp_path)
    place = Place(tmp_path)
    run_local(query, place)
    (path,) = Path(place.sink.place).glob("*.parquet")
    table = pq.read_table(path)
    assert table.schema.names == NAMES
    types = [table.schema.field(name).type for name in NAMES]
    assert types == [
        pa.int64(),
        pa.bool_(),
        pa.int8(),
        pa.int16(),
        pa.int32(),
        pa.int64(),
        pa.float32(),
        pa.float64(),
        pa.large_string(),
        pa.date32(),
        pa.timestamp("us", tz="UTC"),
        pa.float64(),
    ]
    table = table.sort_by("t")
    for name, values in zip(NAMES, COLUMNS.values(), strict=False):
        found = table.column(name).combine_chunks()
        # As text, so that NaN equals NaN and −0.0 is not 0.0.
        assert str(found.to_pylist()) == str(values.to_pylist()), name


def test_jsonl_is_json_that_any_reader_takes(tmp_path: Path) -> None:
    query = every_type(tmp_path)
    place = Place(tmp_path, "jsonl")
    run_local(query, place)
    text = Path(place.sink.place).read_text(encoding="utf-8")
    assert "漢 😀" in text
    lines = text.split("\n")
    assert lines.pop() == ""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    first, second, third = sorted(
        (json.loads(line, parse_constant=refuse) for line in lines), key=lambda row: row["t"]
    )
    assert list(first) == NAMES
    assert first == {
        "t": 1,
        "flag": True,
        "tiny": -128,
        "small": -32768,
        "n": -(2**31),
        "big": -(2**63),
        "f": 0.1,
        "x": 1e-300,
        "some text, é": 'a "quoted" \\ back',
        "d": "1969-12-31",
        "at": "2024-02-29T23:59:59.123456Z",
        "more": 1.0,
    }
    assert second["some text, é"] == "tab\tline\nnull\x00 é 漢 😀"
    assert (second["f"], second["x"], second["more"]) == (None, None, None)
    assert (second["d"], second["at"]) == ("9999-12-31", "0001-01-01T00:00:00.000000Z")
    nulls = [name for name in NAMES if third[name] is None]
    assert nulls == ["flag", "tiny", "small", "n", "big", "f", "d", "at"]
    assert (third["x"], third["more"]) == (0.0, 1.0)


def test_console_prints_the_lines_of_jsonl(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    query = every_type(tmp_path, files=2)
    place = Place(tmp_path, "jsonl")
    run_local(query, place, checkpoint=tmp_path / "one")
    run_local(query, place, checkpoint=tmp_path / "two", sink=ps.console())
    printed = capfdbinary.readouterr()
    written = Path(place.sink.place).read_bytes()
    assert sorted(printed.out.splitlines()) == sorted(written.splitlines())
    assert len(printed.out.splitlines()) == 6
    assert printed.err == b""


def test_noop_counts_and_writes_nothing(tmp_path: Path) -> None:
    query = every_type(tmp_path, files=2)
    reports = run_local(query, Place(tmp_path), sink=ps.noop())
    assert [report.results for report in reports] == [3, 3, 0]
    assert reports[-1].total_results == 6
    assert {path.name for path in tmp_path.iterdir()} == {"a", "checkpoint"}


def test_a_folder_of_parquet_has_a_file_name_for_each_batch(tmp_path: Path) -> None:
    query = every_type(tmp_path, files=3)
    place = Place(tmp_path)
    run_local(query, place, drain=False)
    names = sorted(path.name for path in Path(place.sink.place).glob("[!_.]*"))
    mark = (place.checkpoint / "mark").read_text()
    assert names == [f"part-0000000{batch}-0000-{mark}.parquet" for batch in range(3)]


def test_jsonl_must_be_local(tmp_path: Path) -> None:
    query = every_type(tmp_path)
    with pytest.raises(SinkError, match="must be a local file"):
        run_local(query, Place(tmp_path), sink=ps.jsonl("s3://bucket/results.jsonl"))


def test_jsonl_must_not_be_a_folder(tmp_path: Path) -> None:
    """That is said before a batch has run whose results have no place."""
    query, place = every_type(tmp_path), Place(tmp_path)
    (tmp_path / "out").mkdir()
    with pytest.raises(SinkError, match="out is a folder"):
        run_local(query, place, sink=ps.jsonl(tmp_path / "out"))
    assert not list(place.checkpoint.glob("manifests/*"))


def test_foreach_batch_needs_spark(tmp_path: Path) -> None:
    query = every_type(tmp_path)
    with pytest.raises(SinkError, match="gets Spark DataFrames"):
        run_local(query, Place(tmp_path), sink=ps.foreach_batch(lambda frame, batch: None))


@pytest.mark.classic
@pytest.mark.spark
def test_foreach_batch_gets_frames_and_batch_ids(spark: SparkSession, tmp_path: Path) -> None:
    query = every_type(tmp_path, files=2)
    seen = []

    def look(frame: DataFrame, batch: int) -> None:
        assert frame.columns == NAMES
        rows = frame.select("t").collect()
        seen.append((batch, frame.schema["at"].dataType.typeName(), sorted(r.t for r in rows)))

    run_spark(spark, query, Place(tmp_path), sink=ps.foreach_batch(look))
    assert seen == [(0, "timestamp", [1, 2, 3]), (1, "timestamp", [1, 2, 3])]


@pytest.mark.classic
@pytest.mark.spark
def test_what_a_foreach_batch_function_raises_reaches_the_caller(
    spark: SparkSession, tmp_path: Path
) -> None:
    query = every_type(tmp_path, files=2)
    batches = []

    def fail_once(frame: DataFrame, batch: int) -> None:
        batches.append(batch)
        if len(batches) == 2:
            raise KeyError("no such thing")

    place = Place(tmp_path)
    with pytest.raises(Exception, match="no such thing"):
        run_spark(spark, query, place, sink=ps.foreach_batch(fail_once))
    run_spark(spark, query, place, sink=ps.foreach_batch(fail_once))
    assert batches == [0, 1, 1]


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_spark_writes_what_the_local_engine_writes(
    kind: str, spark: SparkSession, tmp_path: Path
) -> None:
    query = every_type(tmp_path, files=2)
    here, there = Place(tmp_path / "local", kind), Place(tmp_path / "spark", kind)
    run_local(query, here)
    run_spark(spark, query, there)
    rows = [sorted(map(repr, place.results(query))) for place in (here, there)]
    assert rows[0] == rows[1]
    assert len(rows[0]) == 6
