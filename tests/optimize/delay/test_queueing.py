"""Batches as a queue, against a simulation of them, one after the other."""

from __future__ import annotations

from math import inf, isfinite
from random import Random

import pytest

from penstock.optimize.delay.batches import Service
from penstock.optimize.delay.expected import delay_of
from penstock.optimize.delay.queueing import interval_of, one_by_one

LOADS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
SPREADS = (0.05, 0.2, 0.5)
BATCHES = 30_000


def simulated(service: Service, trigger: float, seed: int) -> tuple[float, float]:
    """The mean delay of data, and of the oldest data of batches, over batches of random work.

    Work is gamma distributed, with the mean and variance that X seconds of data bring; data arrives
    evenly over them.
    """
    rng, scale = Random(seed), service.spread**2 / service.load
    apart, all_delays, all_work, all_oldest = trigger, 0.0, 0.0, 0.0
    for _ in range(BATCHES):
        work = rng.gammavariate(service.load * apart / scale, scale)
        takes = service.start + work
        all_delays += work * (apart / 2.0 + takes)
        all_work += work
        all_oldest += apart + takes
        apart = max(trigger, takes)
    return all_delays / all_work, all_oldest / BATCHES


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("start", [0.0, 0.1, 0.3])
def test_delay_is_that_of_simulated_batches(load: float, spread: float, start: float) -> None:
    service = Service(start, load, spread)
    found = delay_of(service, 1.0)
    assert found is not None
    mean, oldest = simulated(service, 1.0, seed=round(1000 * (load + spread + start)))
    # Service times are taken to be normal, which is off by more the more the load varies.
    allowed = 0.03 if spread <= 0.2 else 0.1
    assert found.mean == pytest.approx(mean, rel=allowed)
    assert found.oldest == pytest.approx(oldest, rel=allowed)


def test_at_low_load_data_waits_half_of_a_trigger_and_then_for_its_work() -> None:
    found = delay_of(Service(0.1, 0.3, 0.0), 2.0)
    assert found is not None
    assert (found.waits, found.works) == pytest.approx((1.0, 0.7))
    assert found.oldest == pytest.approx(2.7)


def test_batches_that_take_longer_than_the_trigger_follow_each_other() -> None:
    interval = interval_of(Service(0.3, 0.9, 0.0), 1.0)
    assert interval is not None
    assert interval.mean == pytest.approx(3.0)


def test_variation_makes_data_wait_more_the_higher_the_load() -> None:
    def added(load: float) -> float:
        calm, rough = (delay_of(Service(0.0, load, spread), 1.0) for spread in (0.01, 0.3))
        assert calm is not None
        assert rough is not None
        return rough.waits - calm.waits

    assert [added(load) for load in LOADS] == sorted(added(load) for load in LOADS)


def test_a_load_of_one_has_no_delay_to_tell() -> None:
    assert delay_of(Service(0.0, 1.0, 0.1), 1.0) is None
    assert one_by_one(Service(0.0, 1.0, 0.1)) == (inf, inf)


def test_tuples_one_by_one_wait_as_in_a_queue_of_random_arrivals() -> None:
    rng, rate, takes = Random(7), 80.0, 0.01
    waited, busy = 0.0, 0.0
    for _ in range(200_000):
        busy = max(0.0, busy - rng.expovariate(rate))
        waited, busy = waited + busy, busy + takes
    waits, works = one_by_one(Service(0.0, rate * takes, (rate * takes**2) ** 0.5))
    assert waits == pytest.approx(waited / 200_000, rel=0.05)
    assert works == pytest.approx(takes)


@pytest.mark.parametrize("load", [1e-9, 0.3, 0.97, 0.999])
@pytest.mark.parametrize("spread", [0.0, 1e-9, 0.03, 3.0, 1e4])
@pytest.mark.parametrize("start", [0.0, 1e-6, 80.0, 1e6])
def test_whatever_batches_take_there_is_an_interval(
    load: float, spread: float, start: float
) -> None:
    found = interval_of(Service(start, load, spread), 1.0)
    assert found is not None
    least = max(1.0, start / (1.0 - load))
    # Cells are an eighth of a deviation wide or more.
    assert found.mean >= 0.97 * least
    assert isfinite(found.seen)
