"""Outer joins in scripts against their meaning: over what other queries make, and read by them."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import noop
from support.engines.script_runs import expected, found, opened, plans_of, sinks_of
from support.outer.outer_scripts import outer_script
from support.streams.scripts import write_script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("seed", range(20))
def test_outer_joins_read_queries_and_are_read_as_views(seed: int, tmp_path: Path) -> None:
    case, rng = outer_script(seed), Random(seed)
    script = write_script(case, tmp_path)
    run = opened(script, tmp_path, plans_of(script), partitions=rng.randint(1, 3))
    run.available_now(drain=True)
    assert found(script, tmp_path) == expected(case)


@pytest.mark.spark
def test_they_are_read_on_spark_too(spark: SparkSession, tmp_path: Path) -> None:
    from penstock.engine.spark.start import start_script

    case = outer_script(11)
    script = write_script(case, tmp_path)
    place = str(tmp_path / "checkpoint")
    options = RunOptions(sink=noop(), checkpoint=place, available_now=True, partitions=2)
    run = start_script(script, plans_of(script), sinks_of(script, tmp_path), spark, options)
    run.await_termination()
    wanted = expected(case, drain=False)
    assert found(script, tmp_path) == wanted
    assert wanted["latest"]
    assert wanted["both"]


@pytest.mark.parametrize("seed", range(20, 35))
def test_who_may_still_meet_a_result_waits(seed: int, tmp_path: Path) -> None:
    case = outer_script(seed)
    script = write_script(case, tmp_path)
    opened(script, tmp_path).available_now()
    assert found(script, tmp_path) == expected(case, drain=False)
