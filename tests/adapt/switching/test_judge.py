"""The judge of switches, on made seconds."""

from __future__ import annotations

from math import isclose

import numpy as np

from penstock.adapt.settings import DEFAULT_SETTINGS
from penstock.adapt.switching.judge import Judge, Outcome, Trial, usual_of


def outcome(before: list[float], after: list[float], old: float, new: float) -> Outcome:
    """What came of a switch from batches of some seconds to others."""
    judge = Judge(DEFAULT_SETTINGS)
    for seconds in before:
        judge.hear(old, seconds)
    judge.begin()
    found = None
    for seconds in after[: DEFAULT_SETTINGS.judged_batches]:
        found = judge.try_(Trial(seconds, old, new))
    assert found is not None
    return found


def noisy(seconds: float, noise: float, seed: int) -> list[float]:
    rng = np.random.default_rng(seed)
    return [float(value) for value in seconds * rng.normal(1.0, noise, 10)]


def test_a_kept_promise_is_seen() -> None:
    found = outcome([1.0] * 5, [0.5] * 10, old=1.0, new=0.5)
    assert isclose(found.promise, 0.5)
    assert isclose(found.saved, 0.5)
    assert not found.is_void(DEFAULT_SETTINGS)


def test_a_switch_that_brought_nothing_is_void() -> None:
    found = outcome(noisy(1.0, 0.02, 1), noisy(1.0, 0.02, 2), old=1.0, new=0.4)
    assert found.is_void(DEFAULT_SETTINGS)
    assert found.factor > 2.0


def test_a_switch_that_made_it_worse_is_void() -> None:
    found = outcome(noisy(1.0, 0.1, 3), noisy(1.5, 0.1, 4), old=1.0, new=0.9)
    assert found.is_void(DEFAULT_SETTINGS)


def test_what_is_lost_in_the_noise_is_not_void() -> None:
    # A batch takes a second however little is in it, and the switch was to save ten milliseconds.
    found = outcome(noisy(1.0, 0.1, 5), noisy(1.0, 0.1, 6), old=0.02, new=0.01)
    assert not found.is_void(DEFAULT_SETTINGS)


def test_a_start_that_every_batch_takes_is_told_from_the_work() -> None:
    found = usual_of([(x, 0.5 + 2.0 * x) for x in (0.1, 0.2, 0.4, 0.8)])
    assert found is not None
    assert isclose(found.start, 0.5, rel_tol=0.2)
    assert isclose(found.slope, 2.0, rel_tol=0.2)


def test_a_burst_after_the_switch_is_not_its_fault() -> None:
    judge = Judge(DEFAULT_SETTINGS)
    for load in (1.0, 1.5, 2.5, 1.0):
        judge.hear(load, load)
    judge.begin()
    found = None
    for _ in range(DEFAULT_SETTINGS.judged_batches):
        found = judge.try_(Trial(measured=5.0, expected_old=10.0, expected_new=5.0))
    assert found is not None
    assert isclose(found.saved, 0.5, rel_tol=0.1)


def test_after_too_few_batches_nothing_is_judged() -> None:
    judge = Judge(DEFAULT_SETTINGS)
    judge.hear(1.0, 1.0)
    judge.begin()
    assert not judge.is_judging


def test_no_more_is_saved_than_there_was() -> None:
    judge = Judge(DEFAULT_SETTINGS)
    for load in (1.0, 5.0, 1.0, 9.0, 2.0):
        judge.hear(load, load)
    judge.begin()
    found = None
    # Loads of all sizes, of which the largest were to take the longest with the old plan.
    for load in (9.0, 0.1, 9.0, 8.0, 0.2, 9.5):
        found = judge.try_(Trial(measured=0.01, expected_old=load, expected_new=0.01))
    assert found is not None
    assert 0.9 < found.saved < 1.0
    assert found.promise < 1.0
