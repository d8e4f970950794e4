"""Views of which a stream has fallen silent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.cql import parse
from penstock.duration import Duration
from penstock.engine.local import open_run
from penstock.engine.reports.report import Report
from penstock.engine.run.options import RunOptions
from support.engines.runs import (
    Place,
    planned,
)
from support.streams.views import told
from support.waiting import let_hours_pass, wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SILENT = """
CREATE STREAM a (ts BIGINT, k INT)
  WITH (format='parquet', path='{0}/a', timestamp='ts', unit='s', max_files=1, idle='1 h');
CREATE STREAM b (ts BIGINT, k INT)
  WITH (format='parquet', path='{0}/b', timestamp='ts', unit='s', max_files=1, idle='1 h');
SELECT a.k, COUNT(*) AS n FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS]
WHERE a.k = b.k GROUP BY a.k EVERY 1 SECOND
"""


def bring(folder: Path, name: str, number: int, *seconds: int) -> None:
    (folder / name).mkdir(exist_ok=True)
    rows = {"ts": seconds, "k": pa.array([7] * len(seconds), pa.int32())}
    pq.write_table(pa.table(rows), folder / name / f"{number:04}.parquet")


@pytest.mark.parametrize(
    ("early", "recompute"),
    [((), None), (("a", "b"), None), (("a", "b"), "a")],
    ids=["late", "early", "recompute"],
)
def test_a_view_goes_on_without_a_silent_stream(
    early: tuple[str, ...], recompute: str | None, tmp_path: Path
) -> None:
    bring(tmp_path, "a", 0, 100)
    bring(tmp_path, "b", 0, 100)
    query, place = parse(SILENT.format(tmp_path)), Place(tmp_path)
    reports: list[Report] = []
    plan = replace(planned(query), early=early, recompute=recompute)
    run = open_run(
        plan, RunOptions(sink=place.sink, checkpoint=str(place.checkpoint), report=reports.append)
    )
    run._step()
    let_hours_pass(run)
    bring(tmp_path, "a", 1, 500, 501)
    run._step()
    assert [report.results for report in reports] == [0, 2]
    # b was passed at 501 s: of these only the second is in time.
    bring(tmp_path, "b", 1, 495, 501)
    run.available_now(drain=True)
    changes = [(t.timestamp(), change, n) for t, change, _, n in sorted(told(place, query))]
    assert changes == [
        (100, "upsert", 1),
        (111, "delete", 1),
        (501, "upsert", 2),
        (511, "upsert", 1),
        (512, "delete", 1),
    ]


def passed_by_the_clock(text: str, folder: Path) -> tuple[list[Report], Place]:
    """Reports of a run to which nothing comes any more, until it has nothing to do."""
    query, place = parse(text.format(folder)), Place(folder)
    reports: list[Report] = []
    options = RunOptions(
        sink=place.sink, checkpoint=str(place.checkpoint), report=reports.append, partitions=2
    )
    run = open_run(planned(query), options)
    run._step()
    assert not run._step()
    let_hours_pass(run)
    while run._step():
        assert len(reports) < 5, "it runs batch after batch"
    run.stop()
    return reports, place


def test_a_silent_stream_is_passed_by_the_clock_alone(tmp_path: Path) -> None:
    """The other one is ahead, and brings nothing either: it may still come, the silent one not."""
    bring(tmp_path, "a", 0, 100, 104)
    bring(tmp_path, "b", 0, 100)
    text = SILENT.replace(", idle='1 h'", "", 1)
    reports, place = passed_by_the_clock(text, tmp_path)
    # At the frontier, first 100 s and then 104 s, more may come.
    assert [report.results for report in reports] == [0, 1]
    changes = [(t.timestamp(), n) for t, _, _, n in sorted(told(place, parse(text.format(""))))]
    assert changes == [(100, 1)]


def test_streams_that_are_all_silent_have_come_as_far_as_the_furthest(tmp_path: Path) -> None:
    bring(tmp_path, "a", 0, 100, 104)
    bring(tmp_path, "b", 0, 100)
    reports, _ = passed_by_the_clock(SILENT, tmp_path)
    assert [report.results for report in reports] == [0, 1]


def test_numbered_tuples_do_not_wait_for_silent_streams_either(tmp_path: Path) -> None:
    bring(tmp_path, "a", 0, 100, 104)
    bring(tmp_path, "b", 0, 100)
    streams = SILENT.partition("SELECT")[0]
    join = "SELECT a.k, b.k AS l FROM a [ROWS 5], b [ROWS 5] WHERE a.k = b.k"
    reports, _ = passed_by_the_clock(streams + join, tmp_path)
    # At the frontier, 104 s, more may come.
    assert [report.results for report in reports] == [0, 1]


@pytest.mark.spark
def test_on_spark_a_silent_stream_is_passed_by_the_clock_too(
    spark: SparkSession, tmp_path: Path
) -> None:
    from penstock.engine.spark.start import start

    bring(tmp_path, "a", 0, 100, 104)
    bring(tmp_path, "b", 0, 100)
    query, place = parse(SILENT.format(tmp_path).replace("1 h", "1 second")), Place(tmp_path)
    options = RunOptions(
        sink=place.sink,
        checkpoint=str(place.checkpoint),
        trigger=Duration.of_seconds(0.2),
        partitions=2,
    )
    run = start(planned(query), spark, options)
    wait_until(lambda: any(report.results for report in run.reports) or not run.is_active)
    run.stop()
    changes = [(t.timestamp(), n) for t, _, _, n in sorted(told(place, query))]
    assert changes == [(100, 1)]


@pytest.mark.parametrize("early", [(), ("a",)], ids=["late", "early"])
def test_a_stream_that_speaks_again_is_silent_no_more(
    early: tuple[str, ...], tmp_path: Path
) -> None:
    """It counts as silent when the batch begins that has its next tuples."""
    bring(tmp_path, "a", 0, 100, 101)
    bring(tmp_path, "b", 0, 100)
    text = SILENT.format(tmp_path).replace(", idle='1 h'", "", 1)
    text = text.replace("b [RANGE 10 SECONDS]", "b [ROWS 2]").replace("EVERY 1 ", "EVERY 10 ")
    query, place = parse(text.replace("a [RANGE 10 SECONDS]", "a [UNBOUNDED]")), Place(tmp_path)
    plan = replace(planned(query), early=early)
    run = open_run(plan, RunOptions(sink=place.sink, checkpoint=str(place.checkpoint)))
    run._step()
    bring(tmp_path, "a", 1, 450)
    run._step()
    let_hours_pass(run)
    bring(tmp_path, "b", 1, 300)
    bring(tmp_path, "a", 2, 451)
    run._step()
    run.available_now(drain=True)
    changes = [(t.timestamp(), n) for t, _, _, n in sorted(told(place, query))]
    assert changes == [(100, 1), (110, 2), (300, 4), (450, 6), (460, 8)]
