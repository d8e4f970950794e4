"""Spark's own rate source: its rows come as they are, each once, also after a stop."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import penstock as ps
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
