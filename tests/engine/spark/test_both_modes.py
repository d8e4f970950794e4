"""Queries on Spark, on a session of the classic kind and on Spark Connect: the same must hold.

Both kinds cannot be in one process. In the suite the session is a classic one; `test_connect.py`
runs this file again in a process of its own, where the fixture gives one of Connect.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

import penstock as ps
from penstock.cql import parse
from penstock.engine.control.order import order_names
from penstock.engine.places.place import Place
from penstock.engine.state.store import Store
from penstock.errors import CheckpointError, SinkError, SourceError
from penstock.plan.text.parse import forced_plan, render_plan
from support.engines.read_back import (
    FILES,
    JOIN,
    SEVERAL,
    VIEW,
    counted,
    run_several,
    script,
    table_of,
    write_streams,
)
from support.engines.soak import expected, results, write_input
from support.engines.soak import script as script_of
from support.plans.every_kind import KINDS, any_of, kind_of
from support.sessions.frame_runs import file_frame, pairs_found, write_overlapping
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


def test_a_script_gives_what_its_queries_give(
    spark: SparkSession, streams: Path, tmp_path: Path, wanted: Counter[tuple[Any, ...]]
) -> None:
    asked = ps.script(script(streams, SEVERAL))
    sinks = {name: f"parquet:{tmp_path / name}" for name in ("pairs", "counts")}
    place = tmp_path / "checkpoint"
    with asked.start(spark, sink=sinks, checkpoint=place, available_now=True) as run:
        assert run.await_termination()
    assert run.exception is None
    assert counted(table_of(place, query="pairs")) == wanted
    run_several(streams, tmp_path / "local")
    there = tmp_path / "local" / "checkpoint"
    for changes in (False, True):
        found = table_of(place, query="counts", changes=changes)
        assert counted(found) == counted(table_of(there, query="counts", changes=changes))
        assert found
    assert run.last_report is not None
    assert set(run.last_report.members) == {"near", "pairs", "counts"}


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
    with pytest.raises(SinkError, match="holds data that Penstock did not write"):
        query.start(spark, sink=f"jsonl:{tmp_path / 'mine.jsonl'}", checkpoint=tmp_path / "one")
    write_streams(tmp_path)
    (tmp_path / "b" / "3.jsonl").write_text('{"ts": "yesterday", "k": 1, "z": 1}\n')
    with (
        pytest.raises(SourceError, match="yesterday"),
        ps.sql(script(tmp_path, JOIN)).start(
            spark, sink="noop", checkpoint=tmp_path / "two", available_now=True
        ) as run,
    ):
        run.await_termination()
    assert isinstance(run.exception, SourceError)
    assert not run.is_active


MIXED = """
CREATE STREAM a WITH (format = 'dataframe');
CREATE STREAM b (ts TIMESTAMP, k BIGINT, x BIGINT) WITH (
  format = 'parquet', path = '{folder}/b', timestamp = 'ts', max_files = 1);
CREATE STREAM s (ts TIMESTAMP, k BIGINT) WITH (
  format = 'synthetic', timestamp = 'ts', start = '2026-01-01 00:00:00', rate = 1, rows = 40,
  max_time = '10 seconds', values = 'k: constant(1)');
CREATE TABLE t WITH (format = 'dataframe');
SELECT a.x AS ax, b.x AS bx, t.name
FROM a [RANGE 20 SECONDS], b [RANGE 20 SECONDS], s [RANGE 1 HOUR], t
WHERE a.k = b.k AND b.k = t.id AND s.ts = a.ts
"""


def test_frames_direct_streams_and_tables_in_one_query(spark: SparkSession, tmp_path: Path) -> None:
    """The frame is what is left after select, filter and union; its watermark is the lateness."""
    from pyspark.sql import functions

    wanted = write_overlapping(tmp_path)
    whole = file_frame(spark, str(tmp_path / "a"))
    even = whole.filter("x % 2 = 0").withColumn("more", functions.struct("k"))
    odd = whole.selectExpr("ts", "k", "x + 0 AS x").filter("x % 2 = 1")
    frame = even.unionByName(odd, allowMissingColumns=True).withWatermark("ts", "1 minute")
    table = spark.createDataFrame([(k, f"k{k}") for k in range(0, 12, 2)], "id bigint, name string")
    query = ps.sql(MIXED.format(folder=tmp_path), streams={"a": frame, "t": table})
    assert query.query.sources["a"].lateness == 60_000_000
    sink, checkpoint = ps.jsonl(tmp_path / "results.jsonl"), tmp_path / "checkpoint"
    with query.start(spark, sink=sink, checkpoint=checkpoint, available_now=True) as run:
        run.await_termination()
    times = {x: 10 * (x // 1000) + x % 1000 // 4 for x in range(4000)}
    keys = {
        x: k
        for path in (tmp_path / "a").iterdir()
        for x, k in zip(*(pq.read_table(path).column(c).to_pylist() for c in "xk"), strict=True)
    }
    even_keys = Counter({pair: n for pair, n in wanted.items() if keys[pair[0]] % 2 == 0})
    assert pairs_found(tmp_path) == Counter(
        {p: n for p, n in even_keys.items() if times[p[0]] < 40}
    )
    assert even_keys.total() > 100
    progress = run.streaming.recentProgress
    # Connect's client gives a row of a list and its schema.
    rows = [each.observedMetrics["penstock:a"][0] for each in progress]
    counts = [row[0] if isinstance(row, list) else row for row in rows]
    assert sum(counts) == len(keys) == 160
    assert Store(Place.of(checkpoint)).names("spool") == []


def test_plans_of_every_kind_follow_each_other(spark: SparkSession, tmp_path: Path) -> None:
    """One run is given a plan of another kind before each file of three streams."""
    write_input(tmp_path / "all", len(KINDS), Random(3))
    text = script_of("common", tmp_path / "in")
    for name in "abc":
        (tmp_path / "in" / name).mkdir(parents=True)
    plans = [render_plan(any_of(kind, parse(text), Random(n))) for n, kind in enumerate(KINDS)]
    sink, checkpoint = ps.parquet(tmp_path / "results"), tmp_path / "checkpoint"
    with ps.sql(text, plan=plans[0]).start(
        spark, sink=sink, checkpoint=checkpoint, trigger=0.1
    ) as run:
        for number, kind in enumerate(KINDS):
            if number:
                run.replan(plans[number])
                wait_until(lambda: order_names(Store(Place.of(checkpoint))) == [])
            for name in "abc":
                file = f"{name}/{number:04}.parquet"
                (tmp_path / "all" / file).rename(tmp_path / "in" / file)
            rows = 3 * 20 * (number + 1)
            wait_until(lambda: sum(sum(each.read.values()) for each in run.reports) == rows)  # noqa: B023
            assert run.last_report is not None
            assert kind_of(forced_plan(parse(text), run.last_report.plan)) == kind
    with ps.sql(text, plan=plans[0]).start(
        spark, sink=sink, checkpoint=checkpoint, available_now=True, drain=True
    ) as last:
        last.await_termination()
    wanted = expected(text)
    assert results(sink) == wanted
    assert wanted.total() > 100


def test_windows_of_rows_and_streams_that_are_shed(spark: SparkSession, tmp_path: Path) -> None:
    write_input(tmp_path, 3, Random(5))
    rows, whole = script_of("chain", tmp_path), script_of("common", tmp_path)
    shed = ps.sql(whole.replace("max_files=1", "rate=1000"), shed=True, capacity=0.03)
    sinks = [ps.parquet(tmp_path / name) for name in ("rows", "kept")]
    for number, query in enumerate((ps.sql(rows), shed)):
        with query.start(
            spark,
            sink=sinks[number],
            checkpoint=tmp_path / f"{number}",
            available_now=True,
            drain=True,
        ) as run:
            run.await_termination()
    assert results(sinks[0]) == expected(rows)
    assert run.last_report is not None
    assert 0 < sum(sum(report.shed.values()) for report in run.reports) < 3 * 3 * 20
    found, all_of_them = results(sinks[1]), expected(whole)
    assert 0 < found.total() < all_of_them.total()
    assert found <= all_of_them
