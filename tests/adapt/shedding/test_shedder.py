"""Shedding by itself, on a simulated plant: the delay stays at its target, and little is lost."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from support.adapt.bursts import Burst, after, best_rate, during, play

CASES = {
    "a second": Burst(),
    "short triggers": Burst(trigger=0.2),
    "a short delay": Burst(trigger=0.2, delay=2.0),
    "long triggers": Burst(trigger=5.0, delay=20.0, first=100.0, last=500.0, end=620.0),
    "limited batches": Burst(limit=2.0),
    "long windows": Burst(window=60),
    "short windows": Burst(window=2),
    "costs twice as high": Burst(mistake=0.5),
    "costs half as high": Burst(mistake=2.0),
    "twenty times": Burst(load=20.0),
}


@pytest.mark.parametrize(("case", "seed"), [(case, n % 3) for n, case in enumerate(CASES)])
def test_a_burst_is_shed_and_over(case: str, seed: int) -> None:
    burst = replace(CASES[case], seed=seed)
    moments = play(burst)
    shed, calm = during(burst, moments), after(burst, moments)
    delays = np.array([m.report.delay for m in shed]) / burst.delay
    assert delays.max() <= 1.5
    assert delays[10:].mean() == pytest.approx(1.0, abs=0.2)
    assert (np.abs(delays[10:] - 1.0) <= 0.2).mean() >= 0.7
    kept = sum(m.results for m in shed[10:]) / sum(m.report.span or 0.0 for m in shed[10:])
    assert kept >= 0.95 * best_rate(burst)
    assert not any(m.kept for m in calm[10:])
    assert not any(m.kept for m in moments if m.at < burst.first)


@pytest.mark.parametrize("load", [1.5, 2.0, 3.0])
@pytest.mark.parametrize("window", [5, 20])
def test_a_view_is_shed_and_over(load: float, window: int) -> None:
    """Estimates take longer than what is exact, as long as windows hold tuples that were shed."""
    burst = Burst(load=load, window=window, is_view=True)
    moments = play(burst)
    shed, calm = during(burst, moments), after(burst, moments)
    delays = np.array([m.report.delay for m in shed]) / burst.delay
    assert delays.max() <= 1.6
    assert not any(m.kept for m in calm[window:])
    turns = sum(bool(one.kept) != bool(other.kept) for one, other in pairwise(moments))
    assert turns <= 4, "it sheds and keeps all in turn"


def test_without_noise_the_delay_stays_near() -> None:
    burst = Burst(noise=0.0)
    delays = np.array([m.report.delay for m in during(burst, play(burst))]) / burst.delay
    assert delays.max() <= 1.2
    assert delays[10:] == pytest.approx(np.ones(len(delays) - 10), abs=0.15)


@pytest.mark.parametrize("load", [0.2, 0.7, 0.85])
def test_a_load_that_fits_is_not_shed(load: float) -> None:
    burst = Burst(load=load)
    assert not any(m.kept for m in play(burst))


@pytest.mark.parametrize("is_on", [False, True])
def test_what_an_order_began_an_order_ends(is_on: bool) -> None:
    """Whether or not it was started with --shed."""
    moments = play(Burst(first=10.0), is_on=is_on, orders={5: "on", 40: "off"})
    shed = [bool(m.kept) for m in moments]
    assert all(shed[20:40])
    assert len(shed) > 42
    assert not any(shed[42:])


def test_small_moves_are_not_made() -> None:
    burst = Burst(noise=0.0)
    settled = during(burst, play(burst))[25:]
    assert sum(m.change is not None for m in settled) < len(settled) / 2
    moves = [(one.kept, other.kept) for one, other in pairwise(settled) if one.kept != other.kept]
    assert all(abs(after["a"] / before["a"] - 1.0) > 0.01 for before, after in moves)


def test_changes_say_why() -> None:
    burst = Burst()
    said = [m.change for m in play(burst) if m.change is not None]
    assert {change.kind for change in said} == {"shed"}
    assert "wanted 5 s, load " in said[0].reason
    assert said[0].reason.endswith("of the results expected")
    assert said[-1].reason.endswith("keeps all of every stream")


def test_without_shedding_it_says_that_it_falls_behind() -> None:
    burst = Burst(load=2.0, last=120.0, end=120.0)
    moments = play(burst, is_on=False)
    assert not any(m.kept for m in moments)
    said = [m.change for m in moments if m.change is not None]
    assert {change.kind for change in said} == {"behind"}
    assert 1 <= len(said) <= 3
    assert "a second of data takes" in said[0].reason
    assert "--shed --delay" in said[0].reason


def test_what_keeps_up_is_not_called_behind_and_asks_for_nothing() -> None:
    asked: list[int] = []
    for load in (0.4, 0.8):
        moments = play(Burst(load=load), is_on=False, ask=lambda: asked.append(1))
        assert not any(m.change for m in moments)
    assert not asked
