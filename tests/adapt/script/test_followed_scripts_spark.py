"""A script on Spark whose streams are followed: queries switch, and give what they do without."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import penstock as ps
from support.adapt.followed_scripts import follow_on_spark, follow_script
from support.streams.drifting import Drifting, steady, step

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STREAMS = Drifting(
    "abc",
    step(4, {"a": 20, "b": 4, "c": 40}, {"a": 20, "b": 40, "c": 4}),
    steady({"a": 80, "b": 80, "c": 80}),
    batches=9,
)
QUERIES = """
INTO every;
CREATE STREAM pair AS SELECT a.k AS k, b.ts AS at FROM a [RANGE 2 SECONDS], b [RANGE 2 SECONDS]
WHERE a.k = b.k;
SELECT p.k, COUNT(*) AS n FROM pair [RANGE 3 SECONDS] AS p, c [RANGE 3 SECONDS] WHERE p.k = c.k
GROUP BY p.k EVERY 2 SECONDS INTO counted
"""


@pytest.mark.spark
def test_queries_of_a_script_switch_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    STREAMS.write(tmp_path / "data")
    script = ps.script(STREAMS.script(tmp_path / "data") + QUERIES, kinds=["multiway"])
    run = follow_on_spark(script, tmp_path / "on", spark)
    assert [report.batch for report in run.reports] == list(range(STREAMS.batches))
    assert [batch for batch, _ in run.changes("every", "switch") if batch > 4]
    assert run.reports[-1].members["counted"].prediction is not None
    assert run.results == follow_script(script, tmp_path / "off", "off").results
    assert all(rows.total() > 20 for rows in run.results.values())
