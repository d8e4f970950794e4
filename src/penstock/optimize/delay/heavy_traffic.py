"""Intervals between batches near a load of 1, where their chain takes very many steps to settle.

Batch after batch the interval X changes by little beside itself: it drifts by start − (1 − ρ)X and
has a variance of σ²X. Such a diffusion, held above the trigger, has the stationary density

    x^(a − 1) · e^(−θx)   for x ≥ trigger,   a = 2·start / σ²,   θ = 2(1 − ρ) / σ²

a cut gamma distribution, which grows without bound as ρ comes to 1. What a chain of steps has
beside it is taken from where that can still be solved.
"""

from __future__ import annotations

from dataclasses import replace
from math import log, sqrt

import numpy as np

from penstock.optimize.delay.batches import Interval, Service

_PLACES = 4_000
# Of a gamma distribution: how far from the mean, and how many times 1/θ further, nothing is left.
_DEVIATIONS, _TAIL = 10.0, 40.0
# From here on a gamma distribution is as good as its mean.
_NARROW = 1e9


def near_one(service: Service, trigger: float, solved: Interval, at: float) -> Interval:
    """The interval at the load of a service, by that which is `solved` at another, smaller load.

    A tuple sees an interval of which the chain's steps add as much at all loads: of the moments of
    X' = max(T, S), all that is left beside the diffusion's is what the trigger cuts off.
    """
    here = _diffusion(service, trigger)
    there = _diffusion(replace(service, load=at), trigger)
    mean = here.mean * solved.mean / there.mean
    seen = here.seen + solved.seen - there.seen
    return Interval(mean, max(0.0, (seen - mean) * mean))


def _diffusion(service: Service, trigger: float) -> Interval:
    """Mean and variance of the cut gamma distribution, by its density at many places."""
    spare, variance = 1.0 - service.load, service.spread**2
    least = max(trigger, service.start / spare)
    if not variance or 2.0 * service.start / variance > _NARROW:
        return Interval(least, 0.0)
    shape, rate = 2.0 * service.start / variance, 2.0 * spare / variance
    width = _DEVIATIONS * sqrt(shape)
    low = max(trigger, (shape - width) / rate)
    high = max(trigger, (shape + width) / rate) + _TAIL / rate
    logs = np.linspace(log(low), log(high), _PLACES)
    x = np.exp(logs)
    heights = shape * logs - rate * x
    weights = np.exp(heights - heights.max())
    # By trapezoids.
    weights[[0, -1]] /= 2.0
    mean = float(weights @ x / weights.sum())
    return Interval(mean, float(weights @ (x - mean) ** 2 / weights.sum()))
