"""Drivers that are killed while they read DataFrames: each result is there once."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.engine.places.place import Place
from penstock.engine.state.store import Store
from support.engines.crashes import Crash
from support.sessions.frame_runs import FrameRun

POINTS = ("after the spool's list", "after the commit")


@pytest.mark.spark
@pytest.mark.slow
def test_a_killed_driver_leaves_each_result_once(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        for number in range(6):
            times = pa.array([number * 1_000_000] * 50, pa.int64()).cast(pa.timestamp("us", "UTC"))
            numbers = range(50 * number, 50 * number + 50)
            columns = {"ts": times, "k": pa.array(numbers), "x": pa.array(numbers)}
            path = tmp_path / name / f"{number}.parquet"
            pq.write_table(pa.table(columns), path)
            # Spark takes files in the order of their times, in milliseconds.
            os.utime(path, (1_000_000_000 + number, 1_000_000_000 + number))
    for call, point in enumerate(POINTS):
        assert FrameRun(tmp_path, Crash(point, call)).exit_code() == -signal.SIGKILL
    assert FrameRun(tmp_path).exit_code() == 0
    lines = (tmp_path / "results.jsonl").read_text(encoding="utf-8").splitlines()
    found = Counter((row["ax"], row["bx"]) for row in map(json.loads, lines))
    assert found == Counter((n, n) for n in range(300))
    assert Store(Place.of(tmp_path / "checkpoint")).names("spool") == []
