"""Spark's own rate source: its rows come as they are, each once, also after a stop."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import penstock as ps
from penstock.engine.run.options import RunOptions
from penstock.engine.spark.start import start
from penstock.plan.drops import DropBoxes
from penstock.plan.plan import Plan
from support.waiting import wait_until

QUERY = """
CREATE STREAM tick WITH (format = 'rate', rate = 50);
SELECT a.value, b.timestamp FROM tick [RANGE 5 SECONDS] AS a, tick [RANGE 5 SECONDS] AS b
WHERE a.value = b.value
"""


@pytest.mark.spark
def test_every_tick_comes_once_across_a_stop(spark: SparkSession, tmp_path: Path) -> None:
    for _ in range(2):
        run = ps.sql(QUERY).start(
            spark,
            sink=ps.parquet(tmp_path / "out"),
            checkpoint=str(tmp_path / "state"),
            trigger="500 ms",
        )
        wait_until(lambda: sum(report.results for report in run.reports) >= 50)  # noqa: B023
        run.stop()
    values = pq.read_table(tmp_path / "out").column("value").to_pylist()
    assert sorted(values) == list(range(len(values)))


@pytest.mark.spark
def test_there_is_no_reading_all_of_it(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(ps.PenstockError, match="has no end"):
        ps.sql(QUERY).start(
            spark, sink=ps.noop(), checkpoint=str(tmp_path / "state"), available_now=True
        )


@pytest.mark.spark
def test_a_batch_that_failed_after_its_delivery_sheds_the_same_again(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Of such sources our own feed serves nothing; what a batch sheds by must be known again."""
    text = "CREATE STREAM tick WITH (format = 'rate', rate = 200); SELECT a.value FROM tick [NOW] a"
    plan = ps.sql(text).plan
    delivered: list[tuple[int, list[int]]] = []

    def deliver(frame: Any, batch: int) -> None:
        values = sorted(row.value for row in frame.collect())
        delivered.append((batch, values))
        # Not the first ones: with these the boxes are written down anyway.
        if len(delivered) == 3:
            raise RuntimeError("after the delivery")

    options = RunOptions(sink=ps.foreach_batch(deliver), checkpoint=str(tmp_path / "state"))
    with pytest.raises(RuntimeError), start(shedding(plan, 0.3, 1), spark, options) as run:
        run.await_termination()
    with start(shedding(plan, 0.7, 2), spark, options) as run:
        wait_until(lambda: len(delivered) >= 4 or not run.is_active)
    assert delivered[3] == delivered[2]
    assert len(delivered[2][1]) > 10


def shedding(plan: Plan, kept: float, seed: int) -> Plan:
    return replace(plan, drops=DropBoxes((("a", kept),), seed=seed))
