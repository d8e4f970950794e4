"""A view over nothing yet: a large first batch is not the driver's to evaluate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from penstock.cql import parse
from penstock.engine.run.job import Stage
from penstock.engine.wire.packets import Packet
from support.engines.runs import Place, run_local, run_spark
from support.streams.views import told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPT = """
CREATE STREAM s (ts BIGINT, k INT)
WITH (format = 'csv', path = '{}', timestamp = 'ts', unit = 's');
SELECT k, COUNT(*) AS n FROM s [RANGE 10 SECONDS] GROUP BY k EVERY 5 SECONDS
"""


@pytest.mark.classic
@pytest.mark.spark
def test_executors_evaluate_a_view_whose_first_batch_is_large(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from penstock.engine.spark import runner

    (tmp_path / "in").mkdir()
    rows = "".join(f"{number // 10},{number % 7}\n" for number in range(500))
    (tmp_path / "in/a.csv").write_text("ts,k\n" + rows)
    query = parse(SCRIPT.format(tmp_path / "in"))
    run, here = Stage.run, list[bool]()

    def counted(stage: Stage, packets: list[Packet], *others: Any) -> Iterator[Packet]:
        here.append(stage.is_small)
        return run(stage, packets, *others)

    monkeypatch.setattr(Stage, "run", counted)
    large, small, right = (Place(tmp_path / name) for name in ("large", "small", "right"))
    run_spark(spark, query, small, drain=False)
    assert any(here), "the driver evaluates what is small"
    here.clear()
    monkeypatch.setattr(runner, "_LIGHT", 1000)
    run_spark(spark, query, large, drain=False)
    assert not any(here)
    run_local(query, right, drain=False)
    assert sorted(told(large, query)) == sorted(told(right, query)) == sorted(told(small, query))
