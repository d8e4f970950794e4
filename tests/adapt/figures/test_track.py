"""Tracks: ratios of sums in which the past counts less and less."""

from __future__ import annotations

from math import cos, isclose, pi
from random import Random

import numpy as np
import pytest

from penstock.adapt.figures.measured import Measured
from penstock.adapt.figures.track import Reading, Track
from penstock.adapt.settings import DEFAULT_SETTINGS
from penstock.figure import Figure


def track_of(*counts: float, decay: float = 0.5) -> Track:
    track = Track(remembered=64)
    for count in counts:
        track.add(Reading(count, 1.0, count), decay)
    return track


def test_the_past_counts_half_as_much_after_each_batch() -> None:
    assert isclose(track_of(100.0, 200.0).value, (50 + 200) / 1.5)


def test_a_small_batch_weighs_little() -> None:
    track = Track(remembered=64)
    track.add(Reading(1_000.0, 1.0, 1_000.0), 0.9)
    track.add(Reading(0.0, 0.001, 0.0), 0.9)
    assert isclose(track.value, 900.0 / 0.901)


def test_the_error_is_that_of_events_which_come_independently() -> None:
    assert isclose(track_of(400.0).relative_error, 1 / 20)
    assert isclose(track_of(100.0, 100.0, decay=1.0).relative_error, 200.0**-0.5)


def test_a_restart_leaves_the_latest_batches_only() -> None:
    track = track_of(10.0, 10.0, 1_000.0, 1_000.0)
    track.restart(2)
    assert isclose(track.value, 1_000.0)
    assert isclose(track.hits, 1_500.0)


def test_nothing_read_makes_a_figure_older_and_less_sure() -> None:
    track = track_of(100.0)
    for _ in range(10):
        track.fade(0.5)
    assert track.age == 10
    assert isclose(track.value, 100.0)
    assert track.hits < DEFAULT_SETTINGS.least_hits


def test_few_events_replace_only_what_they_contradict() -> None:
    few = Measured(value=0.02, relative_error=0.5, hits=4.0, unit=0.005)
    assert few.over(Figure(0.03, "declared"), DEFAULT_SETTINGS) is None
    found = few.over(Figure(0.5, "declared"), DEFAULT_SETTINGS)
    assert found is not None
    assert found.value == 0.02


def test_no_event_at_all_is_an_upper_bound() -> None:
    none = Measured(value=0.0, relative_error=1.0, hits=0.0, unit=1e-6)
    assert none.over(Figure(1e-6, "guessed"), DEFAULT_SETTINGS) is None
    found = none.over(Figure(0.01, "guessed"), DEFAULT_SETTINGS)
    assert found is not None
    assert isclose(found.value, 3e-6)


def test_many_events_replace_whatever_was_declared() -> None:
    many = Measured(value=0.02, relative_error=0.01, hits=1e4, unit=2e-6)
    found = many.over(Figure(0.021, "declared"), DEFAULT_SETTINGS)
    assert found == Figure(0.02, "measured", 0.0002)


def test_what_is_only_sampled_does_not_even_out() -> None:
    track = Track(10)
    for _ in range(50):
        track.add(Reading(1e6, 1e7, 1e6, doubt=0.02), 0.9)
    assert isclose(track.relative_error, 0.02, rel_tol=0.01)


def moving(counts: list[float]) -> list[int]:
    """The batches at which a track is said to keep moving; its last readings alone count then."""
    track, found = Track(remembered=64), []
    for batch, count in enumerate(counts):
        track.add(Reading(count, 1.0, count), 0.87)
        if track.is_moving(DEFAULT_SETTINGS):
            found.append(batch)
            track.narrow(DEFAULT_SETTINGS.moving_batches)
    return found


def test_a_wave_keeps_moving_between_its_turns() -> None:
    rng = np.random.default_rng(3)
    wave = [3_000.0 * 10 ** (0.5 * cos(2 * pi * n / 30)) for n in range(90)]
    found = moving([float(count) for count in rng.poisson(wave)])
    assert len(found) >= 6
    assert {batch // 30 for batch in found} == {0, 1, 2}


def test_noise_goes_nowhere() -> None:
    rng = np.random.default_rng(5)
    poisson = [float(count) for count in rng.poisson(3_000, 2_000)]
    assert len(moving(poisson)) <= 4
    rough = [3_000.0 * float(each) for each in 1.0 + 0.15 * rng.choice([-1.0, 1.0], 2_000)]
    assert len(moving(rough)) <= 20


def test_a_figure_that_is_behind_its_last_readings_says_by_how_much() -> None:
    steady = track_of(*[10_000.0] * 10)
    assert steady.lag == 0.0
    stepped = track_of(*[10_000.0] * 10, 40_000.0, 40_000.0)
    assert stepped.lag == pytest.approx(40_000.0 / stepped.value - 1.0, rel=0.1)
    few = track_of(*[4.0] * 10, 6.0, 5.0)
    assert few.lag == 0.0


def test_a_variation_is_that_of_the_tuples_of_a_second() -> None:
    rng = Random(5)
    track, by_second = Track(remembered=64), Track(remembered=64)
    for _ in range(64):
        seconds = [rng.gauss(200.0, 40.0) for _ in range(4)]
        track.add(Reading(sum(seconds), 4.0, sum(seconds)), 0.9)
        by_second.add(Reading(seconds[0], 1.0, seconds[0]), 0.9)
    assert isclose(track.variation, 0.2, rel_tol=0.25)
    assert isclose(by_second.variation, 0.2, rel_tol=0.25)


def test_what_is_always_the_same_does_not_vary() -> None:
    assert track_of(50.0, 50.0, 50.0).variation == 0.0
    assert track_of(50.0).variation == 0.0
