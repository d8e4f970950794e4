"""The supervisor of a run on Spark: it notices a drift and switches, and results stay."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import penstock as ps
import reference
from support.engines.supervised import follow
from support.streams.drifting import Drifting, steady, step

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STEP = 4
STREAMS = Drifting(
    "abc",
    step(STEP, {"a": 20, "b": 4, "c": 40}, {"a": 20, "b": 40, "c": 4}),
    steady({"a": 80, "b": 80, "c": 80}),
    batches=9,
)


@pytest.mark.spark
def test_a_step_is_followed_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    STREAMS.write(tmp_path / "data")
    query = ps.sql(STREAMS.script(tmp_path / "data"), kinds=["multiway"])
    run = follow(query, tmp_path / "on", spark=spark)
    assert [report.batch for report in run.reports] == list(range(STREAMS.batches))
    assert [batch for batch, _ in run.changes("drift") if STEP <= batch <= STEP + 2]
    (late, *_) = [batch for batch in run.switches if batch > STEP]
    # The batch that tells of a switch is the first with the new plan.
    assert run.reports[late].plan != run.reports[late - 1].plan
    batches = STREAMS.batches_of(tmp_path / "data")
    wanted = Counter(reference.answer(query.query, batches))
    assert run.results == in_order(wanted, [output.name for output in query.query.outputs])
    assert wanted.total() > 50


def in_order(rows: Counter[Any], names: list[str]) -> Counter[Any]:
    """Rows with their columns by name, as results are read."""
    places = sorted(range(len(names)), key=lambda place: names[place])
    return Counter({tuple(row[p] for p in places): count for row, count in rows.items()})
