"""Detectors: a step is seen soon, noise is not taken for one."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from penstock.adapt.drift.detector import Detector, Windows, batches_since, load_windows
from penstock.adapt.figures.track import Reading
from penstock.adapt.settings import DEFAULT_SETTINGS

LOADED = """
import sys
from penstock.adapt.drift.detector import load_windows
from penstock.adapt.settings import DEFAULT_SETTINGS
load_windows(DEFAULT_SETTINGS)().drifts(1.0)
print({"pandas", "scipy", "sklearn"} & sys.modules.keys())
"""


@pytest.fixture(scope="module")
def windows() -> Windows:
    return load_windows(DEFAULT_SETTINGS)


def test_windows_are_those_of_river(windows: Windows) -> None:
    least, rng = DEFAULT_SETTINGS.drift_least, np.random.default_rng(7)
    options = {"delta": DEFAULT_SETTINGS.drift_delta, "clock": 1}
    options |= {"grace_period": least, "min_window_length": least}
    river: Any = import_module("river.drift").ADWIN(**options)
    ours, found = windows(), []
    for value in map(float, rng.normal(np.repeat(rng.normal(0.0, 6.0, 40), 25))):
        river.update(value)
        found.append((ours.drifts(value), river.drift_detected))
    assert sum(mine for mine, _ in found) > 20
    assert all(mine == theirs for mine, theirs in found)


def test_nothing_large_is_loaded_for_windows() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True)
    assert done.stdout == "set()\n", done.stderr


def seen_at(counts: list[int], windows: Windows, seconds: float = 1.0) -> list[int]:
    """The batches at which a detector has seen a drift."""
    detector = Detector(DEFAULT_SETTINGS)
    found = []
    for batch, count in enumerate(counts):
        if detector.see(Reading(float(count), seconds, float(count)), windows) is not None:
            found.append(batch)
            detector.begin()
    return found


@pytest.mark.parametrize(("factor", "batches"), [(100.0, 1), (10.0, 1), (2.0, 1), (1.3, 3)])
def test_a_step_is_seen_within_three_batches(windows: Windows, factor: float, batches: int) -> None:
    rng = np.random.default_rng(2)
    for _ in range(10):
        counts = [*rng.poisson(5_000, 20), *rng.poisson(5_000 * factor, 6)]
        found = seen_at(list(map(int, counts)), windows)
        assert found
        assert 20 <= found[0] < 20 + batches


def test_a_step_down_to_silence_is_seen(windows: Windows) -> None:
    found = seen_at([1_000] * 10 + [0] * 4, windows)
    assert found
    assert found[0] <= 11


def test_a_poisson_stream_has_no_drift(windows: Windows) -> None:
    rng = np.random.default_rng(4)
    assert seen_at(list(map(int, rng.poisson(1_000, 3_000))), windows) == []


def test_noise_beyond_poisson_is_learned(windows: Windows) -> None:
    rng = np.random.default_rng(6)
    counts = 5_000 * rng.uniform(0.85, 1.15, 1_000)
    assert len(seen_at(list(map(int, counts)), windows)) <= 2


def test_batches_of_other_sizes_are_no_drift(windows: Windows) -> None:
    rng = np.random.default_rng(8)
    detector = Detector(DEFAULT_SETTINGS)
    for batch in range(200):
        seconds = 0.1 if batch < 100 else 10.0
        count = float(rng.poisson(1_000 * seconds))
        assert detector.see(Reading(count, seconds, count), windows) is None


def test_large_steps_are_seen_at_once(windows: Windows) -> None:
    assert seen_at([1_000] * 10 + [100_000] * 3, windows)[0] == 10


def test_small_steps_are_seen_later(windows: Windows) -> None:
    rng = np.random.default_rng(9)
    found = seen_at([*rng.poisson(5_000, 20), *rng.poisson(5_400, 20)], windows)
    assert found
    assert found[0] > 20


def test_the_change_is_where_both_sides_differ_the_most() -> None:
    assert batches_since([0.0, 0.1, -0.1, 0.0, 5.0, 5.1, 4.9]) == 3
