"""Drivers that are killed while they read DataFrames: each result is there once."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path

import pytest

from penstock.engine.places.place import Place
from penstock.engine.state.store import Store
from support.engines.crashes import Crash
from support.sessions.frame_runs import FrameRun, pairs_found, write_pairs

POINTS = ("after the spool's list", "after the commit")


@pytest.mark.spark
@pytest.mark.slow
def test_a_killed_driver_leaves_each_result_once(tmp_path: Path) -> None:
    write_pairs(tmp_path)
    for call, point in enumerate(POINTS):
        assert FrameRun(tmp_path, Crash(point, call)).exit_code() == -signal.SIGKILL
    assert FrameRun(tmp_path).exit_code() == 0
    assert pairs_found(tmp_path) == Counter((n, n) for n in range(300))
    assert Store(Place.of(tmp_path / "checkpoint")).names("spool") == []
