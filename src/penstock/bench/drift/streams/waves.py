"""Waves, and streams that stay as they are: rates that come and go, noise, near ties."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import cos, pi, sqrt

import numpy as np

from penstock.bench.drift.streams.scenario import Flow, Regime, Scenario, Stretch
from penstock.bench.drift.streams.steps import CHAIN3, STAR3, STEP, rates_of, scenario_of

PERIOD = 60.0
"""Seconds of event time."""
SWING = 10.0
"""How many times as fast as at its slowest a stream is at its fastest."""
CALM_STEP = 10.0
"""Seconds of a batch of streams that stay as they are: an hour is 360 of them."""
NOISE = 0.15
"""By this part rates differ from batch to batch, up or down, in a near tie."""
TIED = 60.0
"""Tuples that one of the hub finds in either of the pair, in a near tie: an hour of more would take
too long."""
APART = 1.05
"""How many times as fast as the other one of the pair is, in a near tie."""


@dataclass(frozen=True)
class Size:
    """Periods of the waves, seconds of streams that stay as they are, tuples/s of the hub in each,
    whether the sine is run too, and seconds and tuples/s of the hub of a near tie."""

    periods: float = 3.0
    seconds: float = 3_600.0
    rate: float = 16_000.0
    calm_rate: float = 6_000.0
    has_sine: bool = True
    tied_seconds: float = 1_200.0
    tied_rate: float = 2_000.0


QUICK = Size(1.5, 240.0, 8_000.0, 6_000.0, has_sine=False, tied_seconds=300.0)


def square(size: Size) -> Scenario:
    """Two streams take turns at being ten times as fast as the other."""
    half = round(PERIOD / STEP / 2)
    one, other = (rates_of(STAR3, size.rate, slow, SWING) for slow in STAR3.pair)
    halves = [Stretch((one, other)[n % 2], half) for n in range(round(2 * size.periods))]
    return scenario_of("square", STAR3, tuple(halves))


def sine(size: Size) -> Scenario:
    """The same without edges: two rates swing against each other by a factor of ten."""
    batches = round(PERIOD / STEP * size.periods)
    phases = [cos(2 * pi * (number + 0.5) * STEP / PERIOD) for number in range(batches)]
    waves = tuple(Stretch(_swung(size.rate, phase), 1) for phase in phases)
    turns = tuple(n for n in range(1, batches) if phases[n] * phases[n - 1] < 0)
    return scenario_of("sine", STAR3, waves, turns=turns)


def _swung(rate: float, phase: float) -> Regime:
    """The pair at one point of the wave, from -1 to 1."""
    first, second = STAR3.pair
    even = rates_of(STAR3, rate, first, 1.0)
    half = sqrt(SWING) ** phase / sqrt(SWING)
    return _scaled(_scaled(even, second, half), first, 1.0 / half / SWING)


def stationary(size: Size, seed: int) -> Scenario:
    """Nothing changes but by chance."""
    regime = rates_of(CHAIN3, size.calm_rate, CHAIN3.pair[0], SWING)
    stretch = Stretch(regime, round(size.seconds / CALM_STEP))
    return scenario_of("stationary", CHAIN3, (stretch,), seed, step=CALM_STEP)


def near_tie(size: Size) -> Scenario:
    """Two streams are nearly equally fast, and it changes from batch to batch which one leads."""
    first, second = STAR3.pair
    regime = rates_of(STAR3, size.tied_rate, first, APART, TIED)
    rng = np.random.default_rng(13)
    noise = 1.0 + NOISE * rng.choice([-1.0, 1.0], (round(size.tied_seconds / CALM_STEP), 2))
    stretches = tuple(
        Stretch(_scaled(_scaled(regime, first, one), second, other), 1) for one, other in noise
    )
    return scenario_of("near_tie", STAR3, stretches, turns=(), step=CALM_STEP)


def _scaled(regime: Regime, name: str, factor: float) -> dict[str, Flow]:
    return {**regime, name: replace(regime[name], rate=regime[name].rate * factor)}


def waves(size: Size) -> Iterator[Scenario]:
    """The square and the sine."""
    yield square(size)
    if size.has_sine:
        yield sine(size)
