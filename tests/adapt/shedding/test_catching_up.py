"""Runs that start late or cold: what has waited is caught up with, and shed only if it must be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.adapt.bursts import Burst, Moment, play

HOUR = 3_600.0
CALM = Burst(first=HOUR, last=HOUR, end=900.0)
"""A load of four tenths, and no burst."""
LATE = replace(CALM, behind=600.0, limit=20.0)
"""The same, ten minutes behind, in batches of up to 20 s."""


def shed(moments: list[Moment]) -> list[Moment]:
    return [moment for moment in moments if moment.kept]


@pytest.mark.parametrize(
    ("behind", "limit", "seed"),
    [(30.0, None, 0), (30.0, 2.0, 1), (30.0, 20.0, 2), (600.0, None, 1), (600.0, 20.0, 0)],
)
def test_a_load_that_fits_is_caught_up_with_in_full(
    behind: float, limit: float | None, seed: int
) -> None:
    end = behind + 2.5 * behind + 60.0
    moments = play(replace(CALM, behind=behind, limit=limit, end=end, seed=seed))
    assert not shed(moments)
    delays = [moment.report.delay or 0.0 for moment in moments]
    assert max(delays) > 2.0 * CALM.delay
    assert max(delays[-5:]) <= CALM.delay


@pytest.mark.parametrize("limit", [2.0, 20.0])
def test_a_folder_of_files_is_read_in_full(limit: float) -> None:
    """Nothing comes any more: however late results are, none is shed."""
    moments = play(replace(CALM, behind=600.0, ends=600.0, limit=limit, end=960.0))
    assert not shed(moments)
    assert sum(moment.report.span or 0.0 for moment in moments) > 590.0 - limit


@pytest.mark.parametrize("limit", [2.0, 20.0])
def test_an_overload_is_shed_until_it_catches_up(limit: float) -> None:
    """Twice the load that fits, ten minutes behind: about as much is shed as the load demands, not
    nearly all, and the delay falls to its target."""
    heavy = replace(LATE, load=2.0, first=0.0, last=HOUR, limit=limit, behind=200.0, end=1_700.0)
    moments = play(heavy)
    late = [m for m in shed(moments) if (m.report.delay or 0.0) > 2.5 * heavy.delay][5:]
    assert late
    assert min(min(m.kept.values()) for m in late) > 0.15
    assert sum(m.report.span or 0.0 for m in late) > 1.1 * sum(m.report.seconds for m in late)
    settled = [m.report.delay or 0.0 for m in moments[-20:]]
    assert sum(settled) / 20 == pytest.approx(heavy.delay, rel=0.25)


def test_files_that_are_moved_in_at_once_are_no_load() -> None:
    """Nor do they look like one later on, when data comes as it did."""
    moments = play(replace(CALM, behind=0.0, end=300.0, limit=None, window=2))
    assert not shed(moments)


@pytest.mark.parametrize("delay", [2.0, 5.0])
@pytest.mark.parametrize("compiling", [{0: 8.0}, {0: 8.0, 1: 5.0}, {0: 3.0, 7: 12.0}])
def test_compiling_is_no_load(compiling: dict[int, float], delay: float) -> None:
    moments = play(replace(CALM, compiling=compiling, delay=delay, trigger=0.5, end=60.0))
    assert not shed(moments)
    assert max(moment.report.delay or 0.0 for moment in moments) > delay


def test_a_cold_start_into_a_burst_is_shed() -> None:
    moments = play(Burst(first=0.0, last=120.0, end=120.0, compiling={0: 8.0, 1: 3.0}))
    assert moments[3].kept
    delays = [moment.report.delay or 0.0 for moment in moments]
    assert sum(delays[-10:]) / 10 == pytest.approx(5.0, rel=0.2)
