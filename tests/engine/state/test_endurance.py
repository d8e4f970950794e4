"""Runs that last, in small: what they hold and leave behind does not grow with their batches."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.endurance.footprint import Footprint, grown
from support.endurance.long_run import faults, watched_run

SIZES = ("forgotten", "files", "disk")


@pytest.mark.parametrize("query", ["chain", "view"])
def test_what_a_run_holds_does_not_grow(query: str, tmp_path: Path) -> None:
    """Times are those of the machine, memory is that of all tests here: `make endure` has both."""
    watch = watched_run(150, query, "local", tmp_path)
    assert len(watch.seconds) == 150
    held = {name: ends for name, ends in watch.figures().items() if name in SIZES}
    assert list(faults(held)) == []


def test_what_grows_is_told() -> None:
    prints = [Footprint(memory=1 << 30, forgotten=0, files=n, disk=n << 20) for n in range(1000)]
    assert list(faults(grown(prints))) == [
        "files grew from 49.5 to 950",
        "disk grew from 5.19e+07 to 9.96e+08",
    ]
    assert list(faults({"cpu": (0.02, 0.0221)})) == ["cpu grew from 0.02 to 0.0221"]
    assert list(faults({"cpu": (0.02, 0.0219), "memory": (1e8, 1.9e8)})) == []
