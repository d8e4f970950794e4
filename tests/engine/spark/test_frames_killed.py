"""Drivers that are killed while they read DataFrames: each result is there once."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.engine.places.place import Place
from penstock.engine.state.store import Store
from support.engines.crashes import Crash
from support.sessions.frame_runs import FrameRun, finish, pairs_found, write_pairs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POINTS = ("after the spool's list", "after the commit")


@pytest.mark.spark
@pytest.mark.slow
def test_a_killed_driver_leaves_each_result_once(spark: SparkSession, tmp_path: Path) -> None:
    write_pairs(tmp_path)
    for call, point in enumerate(POINTS):
        assert FrameRun(tmp_path, Crash(point, call)).exit_code() == -signal.SIGKILL
    finish(spark, tmp_path)
    assert pairs_found(tmp_path) == Counter((n, n) for n in range(300))
    assert Store(Place.of(tmp_path / "checkpoint")).names("spool") == []
