"""Scripts on Spark: the same results, whoever runs with whom."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import noop
from penstock.engine.spark.start import start_script
from support.engines.script_runs import expected, found, plans_of, sinks_of
from support.streams.scripts import random_script, write_script


@pytest.mark.parametrize("seed", [3, 9, 21])
def test_a_script_gives_what_it_means_on_spark(
    seed: int, spark: SparkSession, tmp_path: Path
) -> None:
    case = random_script(seed)
    script = write_script(case, tmp_path)
    options = RunOptions(
        sink=noop(),
        checkpoint=str(tmp_path / "checkpoint"),
        available_now=True,
        drain=True,
        partitions=2,
    )
    plans = plans_of(script, Random(seed))
    run = start_script(script, plans, sinks_of(script, tmp_path), spark, options)
    run.await_termination()
    assert found(script, tmp_path) == expected(case)
