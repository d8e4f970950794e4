"""The delay that is expected of a plan, from its work, its batches and how its load varies."""

from __future__ import annotations

from math import isfinite

from penstock.optimize.delay.batches import Interval, Service
from penstock.optimize.delay.queueing import (
    interval_of,
    one_by_one,
    waits,
    works,
)
from penstock.optimize.delay.variation import spread_of
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.rounds import batch_seconds
from penstock.plan.delay import ExpectedDelay
from penstock.plan.plan import Plan

PERCENTILE = 0.95
SIGMAS = 1.6449
"""Standard deviations above the mean at which 95 % of a normal distribution are below."""


def expected_delay(
    problem: Problem, plan: Plan, utilization: float, trigger: float
) -> ExpectedDelay | None:
    """The delay in batches `trigger` seconds apart at the least; None where it grows for ever.

    `utilization` is the work behind drop boxes, and `problem` has what they leave.
    """
    capacity = problem.known.capacity.value
    if not isfinite(utilization) or utilization >= capacity:
        return None
    spread = spread_of(problem, plan) / capacity
    start = batch_seconds(problem, plan) / capacity if trigger else 0.0
    return delay_of(Service(start, utilization / capacity, spread), trigger)


def delay_of(service: Service, trigger: float) -> ExpectedDelay | None:
    """The delay of batches that take so long."""
    if trigger == 0.0:
        waited, worked = one_by_one(service)
        return _delay(service, 0.0, Interval(0.0, 0.0), waited, worked)
    interval = interval_of(service, trigger)
    if interval is None:
        return None
    return _delay(service, trigger, interval, waits(interval), works(service, interval))


def _delay(
    service: Service, trigger: float, interval: Interval, waited: float, worked: float
) -> ExpectedDelay:
    batch = service.start + service.load * interval.mean
    return ExpectedDelay(
        trigger=trigger,
        apart=interval.mean,
        waits=waited,
        works=worked,
        oldest=interval.mean + batch if trigger else waited + worked,
        load=service.load,
        spread=service.spread,
    )
