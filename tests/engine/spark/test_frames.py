"""Any streaming DataFrame as a stream: the results that the reference and direct readers give."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

import penstock as ps
from penstock.engine.places.place import Place as Folder
from penstock.engine.run.options import RunOptions
from penstock.engine.sources.spool import Spool
from penstock.engine.spark.start import start
from penstock.engine.state import manifest
from penstock.engine.state.store import Store
from penstock.errors import SourceError, UsageError
from penstock.plan.default_plan import default_plan
from reference import answer
from support.engines.runs import Place, expected
from support.sessions.frame_runs import (
    SCHEMA,
    as_frames,
    file_frame,
    finish,
    frames_of_files,
    pairs_found,
    write_overlapping,
)
from support.streams.cases import Case, canonical, write_case
from support.streams.counting_source import counting
from support.streams.typed import TYPES, typed_case
from support.waiting import wait_until

pytestmark = pytest.mark.spark
CASES = 5
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def traits(case: Case) -> set[object]:
    """The types of columns that have NULLs, and whether there is a table."""
    items = case.query.inputs
    found: set[object] = {"table" for item in items if item.is_table}
    for item in items:
        rows = [row for batch in case.batches[item.alias] for row in batch]
        fields = item.source.fields
        found |= {f.type for f in fields if any(row.values[f.name] is None for row in rows)}
    return found


@cache
def telling_cases() -> tuple[Case, ...]:
    """Joins of several batches with results, that together have NULLs of every type and a table."""
    chosen, missing = list[Case](), {"table", *TYPES}
    for case in map(typed_case, range(400)):
        several = max(map(len, case.batches.values())) > 1 and len(case.query.inputs) > 1
        new = missing & traits(case) if several else set()
        if len(new) > len(missing) // 3 and answer(case.query, case.batches):
            missing -= new
            chosen.append(case)
    assert not missing
    return tuple(chosen)


def test_the_cases_are_as_many_as_are_run() -> None:
    assert len(telling_cases()) == CASES


@pytest.mark.parametrize("number", range(CASES))
def test_frames_give_what_the_reference_gives(
    number: int, spark: SparkSession, tmp_path: Path
) -> None:
    case = telling_cases()[number]
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)
    options = RunOptions(
        sink=place.sink, checkpoint=str(place.checkpoint), available_now=True, drain=True
    )
    frames = frames_of_files(spark, query)
    run = start(default_plan(as_frames(query)), spark, options, frames=frames)
    assert run.await_termination()
    assert canonical(place.results(query)) == expected(case, query, place.kind)
    assert place.store.names("spool") == []


class ChosenError(Exception):
    """A failure at a chosen point."""


POINTS: tuple[tuple[Any, str, bool], ...] = (
    (Spool, "enter", False),
    (Spool, "enter", True),
    (manifest, "commit", False),
    (manifest, "commit", True),
    (Spool, "sweep", False),
)


def fail_at(patch: pytest.MonkeyPatch, owner: Any, name: str, call: int, is_after: bool) -> None:
    """Have a function fail at one of its calls, before or after it has done its work."""
    function, calls = getattr(owner, name), [0]

    def failing(*arguments: Any, **named: Any) -> Any:
        calls[0] += 1
        if calls[0] == call and not is_after:
            raise ChosenError
        given = function(*arguments, **named)
        if calls[0] == call:
            raise ChosenError
        return given

    patch.setattr(owner, name, failing)


def test_a_failure_at_any_point_leaves_each_result_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The frame has state of Spark's own, which must go on from batch to batch too."""
    wanted = write_overlapping(tmp_path, files=8)
    for number, (owner, name, is_after) in enumerate(POINTS):
        # A sweep comes before the first batch, too.
        with pytest.MonkeyPatch.context() as patch:
            fail_at(patch, owner, name, 1 + number % 2 + (name == "sweep"), is_after)
            with pytest.raises(ChosenError):
                finish(spark, tmp_path, a=without_doubles(spark, tmp_path))
    finish(spark, tmp_path, a=without_doubles(spark, tmp_path))
    assert pairs_found(tmp_path) == wanted
    assert wanted.total() > 500
    assert Store(Folder.of(tmp_path / "checkpoint")).names("spool") == []


def without_doubles(spark: SparkSession, folder: Path) -> Any:
    frame = file_frame(spark, str(folder / "a"))
    return frame.union(frame).withWatermark("ts", "0 seconds").dropDuplicates(["x", "ts"])


def test_a_python_data_source_that_goes_on_after_a_stop(
    spark: SparkSession, tmp_path: Path
) -> None:
    spark.dataSource.register(counting())
    text = """
    CREATE STREAM n WITH (format = 'dataframe', timestamp = 'at', lateness = '1 minute');
    SELECT n.value FROM n [NOW]
    """
    for least in (5, 30):
        frame = spark.readStream.format("counting").load()
        run = ps.sql(text, streams={"n": frame}).start(
            spark, sink=ps.parquet(tmp_path / "out"), checkpoint=tmp_path / "state", trigger=0.1
        )
        wait_until(lambda: bool(run.reports) and run.reports[-1].total_results >= least)  # noqa: B023
        run.stop()
    assert sorted(pq.read_table(tmp_path / "out").column("value").to_pylist()) == list(range(30))


def test_a_rate_frame_that_goes_on_after_a_stop(spark: SparkSession, tmp_path: Path) -> None:
    text = """
    CREATE STREAM tick WITH (format = 'dataframe', timestamp = 'timestamp', lateness = '1 minute');
    SELECT t.value FROM tick [ROWS 1] AS t
    """
    for _ in range(2):
        frame = spark.readStream.format("rate").option("rowsPerSecond", 100).load()
        run = ps.sql(text, streams={"tick": frame.filter("value % 2 = 0")}).start(
            spark, sink=ps.parquet(tmp_path / "out"), checkpoint=tmp_path / "state", trigger=0.5
        )
        wait_until(lambda: sum(report.read["tick"] for report in run.reports) >= 50)  # noqa: B023
        run.stop()
    assert isinstance(run, ps.SparkRun)
    read = run.pipeline.manifest.streams["tick"].rows
    assert run.pipeline.manifest.offsets == {"tick": read}
    assert read >= 100


def test_readers_of_spark_give_what_direct_readers_give(
    spark: SparkSession, tmp_path: Path
) -> None:
    wanted = write_overlapping(tmp_path)
    text = """
    CREATE STREAM a (ts TIMESTAMP, k BIGINT, x BIGINT) WITH (
      format = 'spark:parquet', timestamp = 'ts', path = '{folder}/a', maxFilesPerTrigger = 1);
    CREATE STREAM b (ts TIMESTAMP, x BIGINT, k BIGINT) WITH (
      format = 'spark:parquet', timestamp = 'ts', path = '{folder}/b', maxFilesPerTrigger = 1);
    CREATE TABLE t (k BIGINT) WITH (format = 'spark:csv', path = '{folder}/k', header = TRUE);
    SELECT a.x AS ax, b.x AS bx FROM a [RANGE 20 SECONDS], b [RANGE 20 SECONDS], t
    WHERE a.k = b.k AND a.k = t.k
    """
    (tmp_path / "k").mkdir()
    (tmp_path / "k" / "1.csv").write_text("\n".join(["k", *map(str, range(12))]))
    sink, checkpoint = ps.jsonl(tmp_path / "results.jsonl"), tmp_path / "checkpoint"
    query = ps.sql(text.format(folder=tmp_path))
    with query.start(spark, sink=sink, checkpoint=checkpoint, available_now=True) as run:
        run.await_termination()
    assert pairs_found(tmp_path) == wanted
    assert len(run.reports) == 4


def test_readers_that_cannot_be_opened_are_named(spark: SparkSession, tmp_path: Path) -> None:
    text = "CREATE STREAM a (ts TIMESTAMP, k {}) WITH (format = 'spark:{}', timestamp = 'ts');"

    def started(type_: str, format_: str) -> None:
        query = ps.sql(text.format(type_, format_) + "SELECT a.k FROM a [NOW]")
        query.start(spark, sink=ps.noop(), checkpoint=tmp_path / "state", available_now=True)

    with pytest.raises(SourceError, match="Spark cannot open a as no-such"):
        started("INT", "no-such")
    spark.dataSource.register(counting())
    with pytest.raises(SourceError, match="column ts of a is not there") as caught:
        started("INT", "counting")
    assert caught.value.hint == "Spark reads at TIMESTAMP, value BIGINT, odd ARRAY<INT>"


def test_wrong_frames_are_refused_by_name(spark: SparkSession, tmp_path: Path) -> None:
    write_overlapping(tmp_path, files=1)
    text = (
        "CREATE STREAM a {} WITH (format = 'dataframe', timestamp = 'ts'); SELECT a.k FROM a [NOW]"
    )
    frame = file_frame(spark, str(tmp_path / "a"))
    listed = ps.sql(text.format("(ts TIMESTAMP, k BIGINT)"))
    with pytest.raises(SourceError, match="stream a is a DataFrame, and none was given"):
        listed.start(spark, sink=ps.noop(), checkpoint=tmp_path / "state")
    with pytest.raises(SourceError, match="stream a is a DataFrame, and none was given"):
        listed.check(sink=ps.noop(), checkpoint=tmp_path / "state")
    given = ps.sql(text.format(""), streams={"a": frame}, engine="local")
    with pytest.raises(SourceError, match="stream a is a DataFrame of Spark's"):
        given.local(sink=ps.noop(), checkpoint=tmp_path / "state")
    with pytest.raises(UsageError, match="is not a DataFrame, for stream a"):
        ps.sql(text.format(""), streams={"a": [1]})
    with pytest.raises(UsageError, match="streams cannot be"):
        ps.sql(text.format(""), streams=[frame])  # type: ignore[arg-type]
    with pytest.raises(SourceError, match="several columns named k"):
        ps.sql(text.format(""), streams={"a": frame.select("ts", "k", F.col("x").alias("K"))})
    counted = frame.groupBy("k").agg(F.max("ts").alias("ts"))
    query = ps.sql(text.format(""), streams={"a": counted})
    with pytest.raises(SourceError, match="Spark cannot run these DataFrames"):
        query.start(spark, sink=ps.noop(), checkpoint=tmp_path / "state")


def test_what_cannot_be_held_is_refused_only_where_it_is_read(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_overlapping(tmp_path, files=1)
    frame = file_frame(spark, str(tmp_path / "a"), SCHEMA)
    odd = frame.withColumns(
        {
            "s": F.struct("k"),
            "a": F.array("k"),
            "n": F.col("ts").cast("timestamp_ntz"),
            "i": F.expr("interval 1 day"),
        }
    )
    text = "CREATE STREAM a WITH (format = 'dataframe', timestamp = 'ts'); SELECT {} FROM a [NOW]"
    query = ps.sql(text.format("a.k"), streams={"a": odd})
    sink = ps.parquet(tmp_path / "out")
    with query.start(spark, sink=sink, checkpoint=tmp_path / "c", available_now=True) as run:
        run.await_termination()
    assert run.reports[-1].total_results == 40
    with pytest.raises(ps.PenstockError, match="column i of a is"):
        ps.sql(text.format("a.i"), streams={"a": odd})


def test_columns_with_parts_and_digits_come_through_frames(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_overlapping(tmp_path, files=1)
    frame = file_frame(spark, str(tmp_path / "a"), SCHEMA).withColumns(
        {
            "s": F.struct("k", F.array("x").alias("xs")),
            "m": F.create_map(F.lit("k"), "k"),
            "n": F.col("ts").cast("timestamp_ntz"),
            "d": F.col("k").cast("decimal(30,2)"),
            "y": F.encode(F.lit("é"), "utf-8"),
        }
    )
    text = (
        "CREATE STREAM a WITH (format = 'dataframe', timestamp = 'ts'); SELECT a.k, a.x, a.s, "
        "a.s.k AS inner, a.s.xs[0] AS first, a.m['k'] AS mapped, a.n, a.d, a.y FROM a [NOW]"
    )
    query = ps.sql(text, streams={"a": frame})
    sink = ps.parquet(tmp_path / "out")
    with query.start(spark, sink=sink, checkpoint=tmp_path / "c", available_now=True) as run:
        run.await_termination()
    rows = pq.read_table(tmp_path / "out").to_pylist()
    assert len(rows) == 40
    for row in rows:
        assert row["s"] == {"k": row["k"], "xs": [row["x"]]}
        assert (row["inner"], row["first"], row["mapped"]) == (row["k"], row["x"], row["k"])
        assert (row["d"], row["y"]) == (row["k"], "é".encode())
        assert row["n"].tzinfo is None
