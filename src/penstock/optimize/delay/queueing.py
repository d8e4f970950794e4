"""Batches as a queue: each takes all that has come since the one before it started.

A batch starts `trigger` seconds after the one before it, or when that one ends if it took longer:
with X seconds between two starts and S seconds of service,

    X' = max(trigger, S),   S = start + A(X)

where A(X) is the work that X seconds of data bring: of mean `load`·X and variance `spread`²·X,
seconds being independent of each other. No batch waits behind another; instead batches grow, as
the queue of a D/G/1 system would, and fall back as fast as the load leaves time to spare.
"""

from __future__ import annotations

from dataclasses import replace
from math import erf, exp, inf, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from penstock.optimize.delay.batches import Interval, Service
from penstock.optimize.delay.heavy_traffic import near_one

Floats = NDArray[np.float64]

# Of the rough reckoning, which bounds a grid.
_STEPS, _NEAR = 1_000, 1e-6
# Cells of the grid, and how many standard deviations it reaches from the mean.
_CELLS, _REACH = 100, 16.0
# A variance of intervals that is nothing beside their square: a deviation of 0.1 %.
_CALM = 1e-6
# The load up to which the chain is solved: its rough reckoning has settled after a few hundred
# steps there, and the grid is fine enough.
_SOLVED = 0.99


def interval_of(service: Service, trigger: float) -> Interval | None:
    """The interval in the long run; None where it grows for ever.

    Near a load of 1 it is that of heavy traffic.
    """
    if service.load >= 1.0:
        return None
    if service.load <= _SOLVED:
        return _solved(service, trigger)
    solved = _solved(replace(service, load=_SOLVED), trigger)
    return near_one(service, trigger, solved, at=_SOLVED)


def _solved(service: Service, trigger: float) -> Interval:
    """The interval of the Markov chain: its stationary distribution is worked out on a grid, whose
    ends follow from a rougher reckoning."""
    rough = _roughly(service, trigger)
    if rough.variance <= _CALM * rough.mean**2:
        return rough
    reach = _REACH * sqrt(rough.variance)
    ends = sqrt(max(trigger, rough.mean - reach)), sqrt(rough.mean + reach)
    # Even in the root of the interval, in which all batches deviate by as much.
    roots = np.linspace(*ends, _CELLS + 1)
    if service.spread < roots[1] - roots[0]:
        # One batch hardly leaves its cell, so that the grid tells nothing.
        return rough
    places = np.concatenate([roots[:1], (roots[1:] + roots[:-1]) / 2.0]) ** 2
    edges = roots**2
    shares = _stationary(_steps(service, edges, places))
    mean = float(shares @ places)
    return Interval(mean, max(0.0, float(shares @ places**2) - mean**2))


def _steps(service: Service, edges: Floats, places: Floats) -> Floats:
    """The chances to come from each place to each: the lower end, below which mostly nothing but
    the trigger is, then the cells above it. Service times are normal."""
    service_means = service.start + service.load * places
    deviations = service.spread * np.sqrt(places)
    away = (edges[None, :] - service_means[:, None]) / deviations[:, None]
    below = np.array([_below(each) for each in away.flat]).reshape(away.shape)
    chances: Floats = np.diff(below, axis=1, prepend=0.0)
    chances[:, -1] += 1.0 - below[:, -1]
    return chances


def _below(z: float) -> float:
    """The part of a normal distribution below z; not scipy's, which takes explain long to load."""
    return (1.0 + erf(z / sqrt(2.0))) / 2.0


def _stationary(chances: Floats) -> Floats:
    """The share of batches at each place in the long run."""
    size = len(chances)
    equations = chances.T - np.eye(size)
    equations[-1] = 1.0
    found: Floats = np.linalg.solve(equations, np.eye(size)[-1])
    return found


def _roughly(service: Service, trigger: float) -> Interval:
    """Mean and variance as if all service times together were normal (Clark's moments of max)."""
    found = Interval(max(trigger, service.start / (1.0 - service.load)), 0.0)
    for _ in range(_STEPS):
        before, found = found, _next(service, trigger, found)
        step = abs(found.mean - before.mean) + sqrt(abs(found.variance - before.variance))
        if step <= _NEAR * found.mean:
            break
    return found


def _next(service: Service, trigger: float, now: Interval) -> Interval:
    over = service.start + service.load * now.mean - trigger
    deviation = sqrt(service.spread**2 * now.mean + service.load**2 * now.variance)
    if deviation == 0.0:
        return Interval(trigger + max(0.0, over), 0.0)
    z = over / deviation
    is_over, density = _below(z), exp(-z * z / 2.0) / sqrt(2.0 * pi)
    more = over * is_over + deviation * density
    squares = (over**2 + deviation**2) * is_over + over * deviation * density
    return Interval(trigger + more, max(0.0, squares - more**2))


def waits(interval: Interval) -> float:
    """Seconds that a tuple waits for its batch on average: half of the interval it arrives in."""
    return interval.seen / 2.0


def works(service: Service, interval: Interval) -> float:
    """Seconds that the batch of a tuple takes on average.

    A tuple is more often in a batch that many have come to: of work of mean m and variance v, it
    sees m + v / m.
    """
    own = service.spread**2 / service.load if service.load else 0.0
    return service.start + service.load * interval.seen + own


def one_by_one(service: Service) -> tuple[float, float]:
    """Seconds that a tuple waits, and takes, where each is taken as it comes: M/G/1, by Pollaczek
    and Khinchine."""
    if service.load >= 1.0:
        return inf, inf
    own = service.spread**2 / service.load if service.load else 0.0
    return service.spread**2 / (2.0 * (1.0 - service.load)), own
