"""`bench scale` runs the real driver over simulated tasks."""

from __future__ import annotations

from pathlib import Path

from penstock.bench.scale.run import Size, run_scale
from penstock.bench.scale.text import scale_text


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
