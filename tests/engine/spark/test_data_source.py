"""The data source `penstock` on Spark: streams into any sink, each result once, and tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import penstock as ps
from support.engines.crashes import Crash, Run, exit_code
from support.engines.read_back import (
    FILES,
    JOIN,
    VIEW,
    counted,
    run_several,
    script,
    table_of,
    write_streams,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("streams")
    write_streams(folder)
    return folder


def run(streams: Path, place: Path, select: str = JOIN, sink: str | None = None) -> Path:
    """A run in this process that is left open; its checkpoint."""
    query = ps.sql(script(streams, select), engine="local")
    sink = sink or f"parquet:{place / 'results'}"
    with query.local(sink=sink, checkpoint=place / "checkpoint", available_now=True) as started:
        started.await_termination()
    return place / "checkpoint"


def passed_on(frame: DataFrame, place: Path) -> None:
    """Write what is new on to Spark's own parquet sink, and end."""
    writer = frame.writeStream.format("parquet").option("path", str(place / "copy"))
    writer = writer.option("checkpointLocation", str(place / "reader"))
    writer.trigger(availableNow=True).start().awaitTermination()


def rows(frame: DataFrame) -> Counter[tuple[Any, ...]]:
    return counted(frame.toArrow().to_pylist())


def test_a_stream_goes_on_after_kills_of_its_writer_and_restarts_of_its_reader(
    spark: SparkSession, streams: Path, tmp_path: Path
) -> None:
    checkpoint = tmp_path / "checkpoint"
    job = Run(script(streams), str(checkpoint), f"parquet:{tmp_path / 'results'}")
    reader = spark.readStream.format("penstock").option("checkpoint", str(checkpoint))
    sizes = []
    for call in (0, 1):
        assert exit_code(_dying(job, call)) == -9
        passed_on(reader.load(), tmp_path)
        sizes.append(spark.read.parquet(str(tmp_path / "copy")).count())
    assert exit_code(job) == 0
    passed_on(reader.load(), tmp_path)
    copied = rows(spark.read.parquet(str(tmp_path / "copy")))
    assert 0 < sizes[0] < sizes[1] < copied.total()
    assert copied == counted(table_of(checkpoint))
    assert copied == rows(spark.read.format("penstock").load(str(checkpoint)))


def _dying(job: Run, call: int) -> Run:
    return replace(job, crash=Crash("in publishing files", call))


def test_a_view_is_a_stream_of_changes_and_a_table_of_rows(
    spark: SparkSession, streams: Path, tmp_path: Path
) -> None:
    checkpoint = run(streams, tmp_path, VIEW, f"jsonl:{tmp_path / 'results.jsonl'}")
    source = spark.readStream.format("penstock").option("checkpoint", str(checkpoint))
    writer = source.load().writeStream.format("memory").queryName("changes_of_view")
    writer.trigger(availableNow=True).start().awaitTermination()
    changes = spark.table("changes_of_view")
    table = spark.read.format("penstock").option("checkpoint", str(checkpoint))
    assert rows(changes) == rows(table.option("changes", "true").load())
    assert rows(table.option("changes", "false").load()) == counted(table_of(checkpoint))
    late = source.option("start", "latest").load().writeStream.format("memory")
    late = late.queryName("later_changes").trigger(availableNow=True)
    late.start().awaitTermination()
    assert spark.table("later_changes").count() == 0 < changes.count()


def test_reports_plans_and_state_are_tables(
    spark: SparkSession, streams: Path, tmp_path: Path
) -> None:
    checkpoint = run(streams, tmp_path)
    reader = spark.read.format("penstock").option("checkpoint", str(checkpoint))
    reports, plans, state = (
        reader.option("what", what).load() for what in ("reports", "plans", "state")
    )
    assert reports.selectExpr("sum(read)").first()[0] == 2 * 4 * FILES
    assert plans.filter("batch = 0").count() == 1
    assert state.groupBy("module").count().count() == 2
    assert state.filter("tuple LIKE '%\"a.k\":0%'").count() > 0


def test_queries_of_a_script_are_read_by_their_names(
    spark: SparkSession, streams: Path, tmp_path: Path
) -> None:
    from pyspark.errors import PySparkException

    run_several(streams, tmp_path)
    place = str(tmp_path / "checkpoint")
    reader = spark.readStream.format("penstock").option("checkpoint", place)
    passed_on(reader.option("query", "pairs").load(), tmp_path)
    assert rows(spark.read.parquet(str(tmp_path / "copy"))) == counted(
        table_of(place, query="pairs")
    )
    table = spark.read.format("penstock").option("query", "counts").load(place)
    assert rows(table) == counted(table_of(place, query="counts"))
    with pytest.raises(PySparkException, match="counts, near, pairs"):
        spark.read.format("penstock").option("query", "other").load(place)


def test_what_cannot_be_read_is_said_in_plain_words(
    spark: SparkSession, streams: Path, tmp_path: Path
) -> None:
    from pyspark.errors import PySparkException

    checkpoint = run(streams, tmp_path, sink="noop")
    for options, words in (
        ({}, "needs the checkpoint of a query"),
        ({"checkpoint": str(tmp_path)}, "is not a checkpoint"),
        ({"checkpoint": str(tmp_path / "none")}, "is not a checkpoint"),
        ({"checkpoint": str(checkpoint)}, "its sink, noop, keeps none"),
        ({"checkpoint": str(checkpoint), "what": "all"}, "what cannot be 'all'"),
        ({"checkpoint": str(checkpoint), "changes": "some"}, "changes cannot be 'some'"),
    ):
        with pytest.raises(PySparkException) as caught:
            spark.read.format("penstock").options(**options).load()
        assert words in str(caught.value).splitlines()[0]
        assert "Traceback" not in str(caught.value)
    state = spark.readStream.format("penstock").option("what", "state").load(str(checkpoint))
    with pytest.raises(PySparkException) as caught:
        passed_on(state, tmp_path)
    assert "the state of a query is a table, not a stream" in str(caught.value)
    assert "content.py" not in str(caught.value)
