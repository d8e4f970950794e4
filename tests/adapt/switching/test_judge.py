"""The judge of switches, on made seconds."""

from __future__ import annotations

from collections.abc import Sequence
from math import isclose

import numpy as np
import pytest

from penstock.adapt.settings import DEFAULT_SETTINGS
from penstock.adapt.switching.judge import Judge, Outcome, Trial, usual_of

SETTINGS = DEFAULT_SETTINGS


def outcome(before: list[float], after: list[float], old: float, new: float) -> Outcome:
    """What came of a switch from batches of some seconds to others."""
    judge = Judge(SETTINGS)
    for seconds in before:
        judge.hear(old, seconds)
    judge.begin()
    found = None
    for seconds in after[: SETTINGS.judged_batches]:
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
    assert not found.is_void(SETTINGS)


def test_a_switch_that_brought_nothing_is_void() -> None:
    found = outcome(noisy(1.0, 0.02, 1), noisy(1.0, 0.02, 2), old=1.0, new=0.4)
    assert found.is_void(SETTINGS)
    assert found.factor > 2.0


def test_a_switch_that_made_it_worse_is_void() -> None:
    found = outcome(noisy(1.0, 0.1, 3), noisy(1.5, 0.1, 4), old=1.0, new=0.9)
    assert found.is_void(SETTINGS)


def test_what_is_lost_in_the_noise_is_not_void() -> None:
    # A batch takes a second however little is in it, and the switch was to save ten milliseconds.
    found = outcome(noisy(1.0, 0.1, 5), noisy(1.0, 0.1, 6), old=0.02, new=0.01)
    assert not found.is_void(SETTINGS)


def test_a_start_that_every_batch_takes_is_told_from_the_work() -> None:
    found = usual_of([(x, 0.5 + 2.0 * x) for x in (0.1, 0.2, 0.4, 0.8)])
    assert found is not None
    assert isclose(found.start, 0.5, rel_tol=0.2)
    assert isclose(found.slope, 2.0, rel_tol=0.2)


def test_a_burst_after_the_switch_is_not_its_fault() -> None:
    judge = Judge(SETTINGS)
    for load in (1.0, 1.5, 2.5, 1.0):
        judge.hear(load, load)
    judge.begin()
    found = None
    for _ in range(SETTINGS.judged_batches):
        found = judge.try_(Trial(measured=5.0, expected_old=10.0, expected_new=5.0))
    assert found is not None
    assert isclose(found.saved, 0.5, rel_tol=0.1)


# A run of `penstock demo` on two cores, CPU-seconds: its first batches by a tree, predicted and
# measured; then twelve times as many people came, and batches by another plan, each with what the
# model says of the tree and of that plan. Windows were filling, and costs were guessed.
BEFORE = ((0.026, 0.045), (0.062, 0.059), (0.132, 0.094), (0.139, 0.106), (0.143, 0.113))
RUSH = (
    Trial(0.804, 0.673, 0.563),
    Trial(1.030, 0.844, 0.607),
    Trial(1.109, 0.955, 0.657),
    Trial(1.194, 1.160, 0.708),
    Trial(0.928, 1.259, 0.713),
    Trial(1.062, 2.314, 0.909),
)


def judged(before: Sequence[tuple[float, float]], trials: Sequence[Trial]) -> Outcome:
    judge = Judge(SETTINGS)
    for predicted, measured in before:
        judge.hear(predicted, measured)
    judge.begin()
    found = [judge.try_(trial) for trial in trials][-1]
    assert found is not None
    return found


def test_a_switch_in_a_rush_is_not_taken_back_for_what_the_rush_takes() -> None:
    found = judged(BEFORE, RUSH)
    assert found.saved < 0.0
    assert found.saved + found.doubt > 0.0
    assert not found.is_void(SETTINGS)


@pytest.mark.parametrize("times", [1.5, 2.0, 4.0])
def test_a_bad_switch_in_a_rush_is_taken_back(times: float) -> None:
    """It takes so many times what the tree would have, though all that grows with the work."""
    usual = BEFORE[-1][1] / BEFORE[-1][0]
    bad = [Trial(times * usual * t.expected_old, t.expected_old, t.expected_new) for t in RUSH]
    found = judged(BEFORE, bad)
    assert found.is_void(SETTINGS)
    assert found.factor > times


def test_a_switch_that_grows_ever_worse_in_a_rush_is_taken_back() -> None:
    measured = (0.6, 0.9, 1.2, 1.8, 2.2, 4.0)
    worse = [Trial(m, t.expected_old, t.expected_new) for m, t in zip(measured, RUSH, strict=True)]
    assert judged(BEFORE, worse).is_void(SETTINGS)


@pytest.mark.parametrize("load", [0.2, 1.0, 5.0])
def test_the_load_alone_leaves_no_doubt_where_it_was_seen_before(load: float) -> None:
    before = [(x, 0.5 + x) for x in (0.2, 1.0, 5.0)]
    found = judged(before, [Trial(0.5 + load / 2.0, load, load / 2.0)] * len(RUSH))
    assert isclose(found.promise, found.saved)
    assert isclose(found.doubt, 0.0, abs_tol=1e-9)


def test_a_loss_with_less_to_do_than_before_must_show_by_both_readings_too() -> None:
    """Of two seconds for one that was predicted, half may be a start that every batch takes."""
    assert not judged([(1.0, 2.0)] * 5, [Trial(1.0, 0.25, 0.2)] * len(RUSH)).is_void(SETTINGS)
    assert judged([(1.0, 2.0)] * 5, [Trial(1.5, 0.25, 0.2)] * len(RUSH)).is_void(SETTINGS)


def test_after_too_few_batches_nothing_is_judged() -> None:
    judge = Judge(SETTINGS)
    judge.hear(1.0, 1.0)
    judge.begin()
    assert not judge.is_judging


def test_no_more_is_saved_than_there_was() -> None:
    judge = Judge(SETTINGS)
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
