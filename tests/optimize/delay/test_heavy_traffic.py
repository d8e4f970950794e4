"""The delay of batches near a load of 1, against their chain on a fine grid."""

from __future__ import annotations

from itertools import pairwise
from math import isfinite, sqrt

import numpy as np
import pytest
from scipy.special import ndtr

from penstock.optimize.delay.batches import Interval, Service
from penstock.optimize.delay.expected import delay_of
from penstock.optimize.delay.queueing import waits, works

TO_ONE = (0.5, 0.9, 0.98, 0.989, 0.99, 0.9901, 0.992, 0.999, 0.9999, 1 - 1e-6, 1 - 1e-9, 1 - 1e-14)


def chain(service: Service) -> Interval:
    """The stationary interval of batches at least a second apart, in cells of a sixth of a step."""
    tail = 14.0 * service.spread**2 / (2.0 * (1.0 - service.load)) + 8.0 * service.spread
    shape = sqrt(service.start / 2.0) * service.spread / (1.0 - service.load)
    top = max(1.0, service.start / (1.0 - service.load)) + tail + 10.0 * shape
    roots = np.linspace(1.0, sqrt(top), max(100, int(6 * (sqrt(top) - 1.0) / service.spread)))
    edges, places = roots**2, np.concatenate([roots[:1], (roots[1:] + roots[:-1]) / 2.0]) ** 2
    means = service.start + service.load * places
    below = ndtr((edges - means[:, None]) / (service.spread * np.sqrt(places))[:, None])
    chances = np.diff(below, axis=1, prepend=0.0, append=1.0)
    chances = np.column_stack([chances[:, :-2], chances[:, -2:].sum(axis=1)])
    equations = chances.T - np.eye(len(places))
    equations[-1] = 1.0
    shares = np.linalg.solve(equations, np.eye(len(places))[-1])
    mean = float(shares @ places)
    return Interval(mean, float(shares @ places**2) - mean**2)


@pytest.mark.parametrize("load", [0.95, 0.99, 0.992, 0.999])
@pytest.mark.parametrize("spread", [0.05, 0.3, 0.8, 3.0])
@pytest.mark.parametrize("start", [0.0, 0.1])
def test_delay_is_that_of_the_chain(load: float, spread: float, start: float) -> None:
    service = Service(start, load, spread)
    found, wanted = delay_of(service, 1.0), chain(service)
    assert found is not None
    assert found.mean == pytest.approx(waits(wanted) + works(service, wanted), rel=0.02)
    assert found.apart == pytest.approx(wanted.mean, rel=0.06)


@pytest.mark.parametrize("spread", [1e-6, 0.05, 0.237, 0.79, 3.0, 1e3])
@pytest.mark.parametrize("start", [0.0, 1e-3, 0.3, 50.0])
def test_delay_grows_with_the_load_and_without_bound(spread: float, start: float) -> None:
    found = [delay_of(Service(start, load, spread), 1.0) for load in TO_ONE]
    delays = [each.mean for each in found if each is not None]
    aparts = [each.apart for each in found if each is not None]
    assert len(delays) == len(TO_ONE)
    assert all(isfinite(each) for each in delays)
    # That of the grid is right to some thousandths.
    assert all(after >= 0.995 * before for before, after in pairwise(delays))
    assert all(after >= 0.995 * before for before, after in pairwise(aparts))
    assert delays[-1] > 1.0 + spread**2 / (2.0 * (1.0 - TO_ONE[-1]))


def test_without_a_start_the_interval_that_a_tuple_sees_follows_from_its_moments() -> None:
    """X' = max(T, S): of E[X²](1 − ρ²) all but the part that the trigger cuts off is known."""
    load, spread = 1.0 - 1e-5, 0.79
    found = delay_of(Service(0.0, load, spread), 1.0)
    assert found is not None
    seen = (spread**2 / (1.0 - load) + 2.0) / (1.0 + load)
    assert 2.0 * found.waits == pytest.approx(seen, rel=1e-3)
