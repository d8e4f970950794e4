"""`bench scale` runs the real driver over simulated tasks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.bench.scale.growth import Growth, Setting, run_growth
from penstock.bench.scale.run import Size, run_scale
from penstock.bench.scale.text import growth_text, scale_text
from penstock.bench.workload import JOIN3
from penstock.duration import MICROS


def test_a_driver_of_many_partitions_is_measured(tmp_path: Path) -> None:
    """What a task gets does not grow with the partitions, and what is written does not with what
    has not changed."""
    size = Size(partitions=(20, 400), executors=10, window=3, batches=2)
    made = run_scale(size, tmp_path, lambda said: None)
    few, many = made["sizes"]
    assert (few["partitions"], many["partitions"]) == (20, 400)
    assert many["chunks"] > 10 * few["chunks"]
    assert many["task_bytes"] < 10_000
    assert many["driver_cpu_s"] > 0.0
    assert "400" in scale_text(made)
    assert not list(tmp_path.iterdir())


@pytest.mark.spark
def test_batches_grow_with_what_they_have_to_do(tmp_path: Path, spark: SparkSession) -> None:
    """State with rate and window, results with these and fewer keys, neither with partitions."""
    small = replace(JOIN3, name="growth", distinct=200, rate=50, window=2, step=MICROS)
    made = run_growth(spark, Growth((1, 4), 3, Setting(small, 1)), tmp_path, lambda said: None)
    grown = {each["dimension"]: each for each in made["settings"] if each["factor"] == 4}
    assert grown["rate"]["tuples"] == 4 * 150
    assert grown["rate"]["state_growth"] == pytest.approx(4.0, rel=0.2)
    assert 2.0 < grown["window"]["state_growth"] < 4.0
    assert grown["rate"]["results"] > grown["window"]["results"] > grown["keys"]["results"]
    assert grown["partitions"]["work_growth"] == 1.0
    assert grown["partitions"]["state_growth"] <= 1.0
    assert all(each["cpu_s"] > 0.0 for each in made["settings"])
    assert len(growth_text(made).splitlines()) == 4 * 2 + 5
