"""Reach: when a plan has so many results, and how many it has by a time.

Curves are straight between their points, and results grow with powers of time: early ones of
streams that last long would lie far off between two points. So a curve is looked at up to where it
is asked about, and not much further.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TypeVar

import numpy as np

from penstock.optimize.curves.arrivals import last_arrival
from penstock.optimize.curves.curve import NOTHING, PlanCurve, curve_of, results_curve, screened
from penstock.optimize.model.problem import Floats, Problem
from penstock.papers.curve import ROUNDING, Curve
from penstock.plan.plan import Plan
from penstock.plan.tree import TreeJoin

AnyCurve = TypeVar("AnyCurve", bound=Curve)

PATIENCE = 3.2e9
"""Seconds over which results are looked for: a century."""
_FIRST, _GROWTH = 1.0, 4.0
_CLOSE = 0.9
"""The part of a curve behind which what is asked about must lie: there points are dense enough."""


def results_by(problem: Problem, plan: Plan, seconds: float) -> float:
    """Results that a plan has by a time."""

    def looked_at(until: float) -> tuple[PlanCurve, float]:
        curve = curve_of(problem, plan, until)
        return curve, _place(curve.times, seconds, curve)

    return _closely(looked_at, seconds).results(seconds)


def long_enough(problem: Problem, plan: Plan, results: float) -> PlanCurve:
    """A curve up to the wanted results, or to the end of the streams."""
    end = _end(problem, plan)
    if end == 0.0:
        return NOTHING
    ideal = ideal_time(problem, results)
    until = ideal or min(end, PATIENCE)
    while True:
        curve = curve_of(problem, plan, until)
        if is_enough(curve, results) or until >= min(end, PATIENCE):
            return curve
        until *= _GROWTH
        # Queues of servers may take longer than the streams, however long that is.
        until = end if until > min(end, PATIENCE) else until


def ideal_time(problem: Problem, results: float) -> float:
    """When the last of so many results would be there if all work were done at once; zero if there
    will never be so many."""
    found = problem.reached
    if results not in found:
        found[results] = _ideal_time(problem, results)
    return found[results]


def is_enough(curve: Curve, results: float) -> bool:
    """Whether there are so many results by the end of a curve, but for rounding."""
    return curve.total * (1.0 + ROUNDING) >= results


def _ideal_time(problem: Problem, results: float) -> float:
    end = last_arrival(problem)
    last = PATIENCE if end is None else min(end, PATIENCE)
    until = min(_FIRST, last)
    while not is_enough(results_curve(problem, until), results):
        if until >= last:
            return 0.0
        until = min(until * _GROWTH, last)

    def looked_at(until: float) -> tuple[Curve, float]:
        curve = results_curve(problem, until)
        return curve, float(curve.times[_after(curve.counts, results)])

    return _closely(looked_at, until).time_of(results) or 0.0


def _closely(looked_at: Callable[[float], tuple[AnyCurve, float]], until: float) -> AnyCurve:
    """A curve that does not go far beyond what it is asked about, which lies by a time."""
    while True:
        curve, place = looked_at(until)
        if place >= _CLOSE * until or place <= 0.0:
            return curve
        until = place


def _place(times: Floats, seconds: float, curve: PlanCurve) -> float:
    """When came what is done by a time; where that is not known, that time itself."""
    known = len(curve.arrivals) == len(times)
    return float(curve.arrivals[_after(times, seconds)]) if known else seconds


def _after(values: Floats, value: float) -> int:
    """The first place with so large a value, or the last place."""
    return min(int(np.searchsorted(values, value)), len(values) - 1)


def _end(problem: Problem, plan: Plan) -> float:
    """The time up to which a curve must look to have all results; infinite if there is none."""
    end = last_arrival(problem)
    if end is None or end == 0.0:
        return inf if end is None else 0.0
    if problem.servers == "each":
        # Of a tree, `until` is by when work is done, of others by when it has come.
        return inf if isinstance(plan, TreeJoin) else last_arrival(screened(problem)) or end
    return end
