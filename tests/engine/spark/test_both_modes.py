"""Queries on Spark, on a session of the classic kind and on Spark Connect: the same must hold.

Both kinds cannot be in one process. In the suite the session is a classic one; `test_connect.py`
runs this file again in a process of its own, where the fixture gives one of Connect.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import penstock as ps
from penstock.errors import CheckpointError, PenstockError, SinkError
from support.engines.read_back import FILES, JOIN, VIEW, counted, script, table_of, write_streams
from support.waiting import wait_until

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("streams")
    write_streams(folder)
    return folder


@pytest.fixture(scope="module")
def wanted(streams: Path, tmp_path_factory: pytest.TempPathFactory) -> Counter[tuple[Any, ...]]:
    """The results of the join, as the engine in this process gives them."""
    folder = tmp_path_factory.mktemp("wanted")
    query = ps.sql(script(streams), engine="local")
    with query.local(
        sink=f"parquet:{folder / 'results'}", checkpoint=folder / "checkpoint", available_now=True
    ) as run:
        run.await_termination()
    return counted(table_of(folder / "checkpoint"))


def test_a_join_reads_all_there_is_drains_and_closes(
    spark: SparkSession, streams: Path, tmp_path: Path, wanted: Counter[tuple[Any, ...]]
) -> None:
    told: list[ps.Report] = []
    query = ps.sql(script(streams))
    options: dict[str, Any] = {
        "sink": f"parquet:{tmp_path / 'results'}",
        "checkpoint": tmp_path / "checkpoint",
        "available_now": True,
        "drain": True,
    }
    with query.start(spark, report=told.append, **options) as run:
        assert run.await_termination()
    assert counted(table_of(tmp_path / "checkpoint")) == wanted
    assert [report.batch for report in told] == [report.batch for report in run.reports]
    assert sum(sum(report.read.values()) for report in told) == 2 * 4 * FILES
    assert run.last_report is not None
    assert run.last_report.total_results == wanted.total()
    assert not run.is_active
    assert run.exception is None
    assert run.streaming.name.startswith("a⋈b ")
    with pytest.raises(CheckpointError, match="is closed"):
        query.start(spark, **options)


def test_a_query_that_was_stopped_goes_on(
    spark: SparkSession, streams: Path, tmp_path: Path, wanted: Counter[tuple[Any, ...]]
) -> None:
    query = ps.sql(script(streams))
    options: dict[str, Any] = {
        "sink": f"jsonl:{tmp_path / 'results.jsonl'}",
        "checkpoint": tmp_path / "checkpoint",
    }
    with query.start(spark, trigger=0.2, **options) as run:
        wait_until(lambda: run.last_report is not None)
        assert not run.await_termination(0)
        run.replan("(b a)")
        before = len(run.reports)
    assert not run.is_active
    assert before <= len(run.reports) <= FILES
    with query.start(spark, available_now=True, **options) as again:
        again.await_termination()
    assert counted(table_of(tmp_path / "checkpoint")) == wanted


def test_a_view_is_read_back_by_the_session_that_ran_it(
    spark: SparkSession, streams: Path, tmp_path: Path
) -> None:
    checkpoint = tmp_path / "checkpoint"
    with ps.sql(script(streams, VIEW)).start(
        spark, sink=f"parquet:{tmp_path / 'results'}", checkpoint=checkpoint, available_now=True
    ) as run:
        run.await_termination()
    ps.register(spark)
    reader = spark.read.format("penstock").option("checkpoint", str(checkpoint))
    rows = reader.load().toArrow().to_pylist()
    assert counted(rows) == counted(table_of(checkpoint))
    assert rows
    assert run.last_report is not None
    assert reader.option("changes", "true").load().count() == run.last_report.total_results


def test_a_function_gets_each_batch(spark: SparkSession, streams: Path, tmp_path: Path) -> None:
    target = str(tmp_path / "handed")

    def take(frame: DataFrame, batch_id: int) -> None:
        frame.write.mode("overwrite").parquet(f"{target}/batch={batch_id}")

    with ps.sql(script(streams)).start(
        spark, sink=ps.foreach_batch(take), checkpoint=tmp_path / "checkpoint", available_now=True
    ) as run:
        run.await_termination()
    assert run.last_report is not None
    assert spark.read.parquet(target).count() == run.last_report.total_results > 0


def test_what_goes_wrong_is_said_in_our_words(
    spark: SparkSession, streams: Path, tmp_path: Path
) -> None:
    query = ps.sql(script(streams))
    (tmp_path / "mine.jsonl").write_text("mine\n")
    with pytest.raises(SinkError, match="already holds results"):
        query.start(spark, sink=f"jsonl:{tmp_path / 'mine.jsonl'}", checkpoint=tmp_path / "one")
    write_streams(tmp_path)
    (tmp_path / "b" / "3.jsonl").write_text('{"ts": "yesterday", "k": 1, "z": 1}\n')
    with (
        pytest.raises(PenstockError, match="yesterday"),
        ps.sql(script(tmp_path, JOIN)).start(
            spark, sink="noop", checkpoint=tmp_path / "two", available_now=True
        ) as run,
    ):
        run.await_termination()
    assert isinstance(run.exception, PenstockError)
    assert not run.is_active
