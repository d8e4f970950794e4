"""Results over time of any plan, on one server that takes arrivals in order.

The inputs are fluids: what has arrived by a time, how full the windows are then, and so what work
and which results the arrivals of each moment bring. Work that the server has not done yet waits, so
that the results of an arrival are there once all work up to it is done.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from penstock.optimize.model.flow import Flow
from penstock.optimize.model.problem import Floats, Problem
from penstock.optimize.model.work import Terms, delivery_of, results_of, work_of
from penstock.papers.curve import Curve, served
from penstock.plan.plan import Plan
from penstock.query import TimeWindow
from penstock.query.query import Input

# Between two moments at which a window fills or a stream ends everything is a polynomial; this many
# points each are far more than Simpson's rule needs for ten inputs.
_POINTS = 65

# Changes that are closer together than this fraction of the whole time are one, rounded apart.
_SAME_MOMENT = 1e-12


@dataclass(frozen=True)
class PlanCurve(Curve):
    """The results of a plan over time; `arrivals` are the times at which came what is done by each
    of `times`."""

    arrivals: Floats = field(default_factory=lambda: np.zeros(1))


NOTHING = PlanCurve(np.zeros(1), np.zeros(1))
"""The curve of streams that are over before they begin."""


def curve_of(problem: Problem, plan: Plan, until: float, kept: Sequence[float] = ()) -> PlanCurve:
    """The curve of a plan for the arrivals of the first `until` seconds."""
    x = kept or [1.0] * problem.size
    inputs = [
        _Arrivals(item, flow, fraction)
        for item, flow, fraction in zip(problem.query.inputs, problem.inputs, x, strict=True)
    ]
    times = _moments(inputs, until)
    rates = [arrivals.rate(times) for arrivals in inputs]
    windows = [arrivals.window(times) for arrivals in inputs]
    terms = (*work_of(problem, plan), *delivery_of(problem))
    work = _total(terms, rates, windows)
    for flow, arrivals in zip(problem.inputs, inputs, strict=True):
        work += arrivals.raw_rate(times) * flow.filter_cost
    results = _total(results_of(problem), rates, windows)
    busy = _integral(times, work) / problem.known.capacity.value
    return PlanCurve(served(times, busy), _integral(times, results), arrivals=times)


def last_arrival(problem: Problem) -> float | None:
    """When the last stream ends, in seconds; None if one never does."""
    ends = [
        None if flow.cardinality is None else flow.cardinality / flow.raw_rate
        for flow in problem.inputs
        if not flow.is_table
    ]
    return None if None in ends else max(end for end in ends if end is not None)


@dataclass(frozen=True)
class _Arrivals:
    """One input over time, shed to a fraction."""

    item: Input
    flow: Flow
    kept: float

    @property
    def end(self) -> float:
        if self.flow.cardinality is None or self.flow.is_table:
            return float("inf")
        return self.flow.cardinality / self.flow.raw_rate

    def rate(self, times: Floats) -> Floats:
        """Tuples/s that reach the joins; zero once the stream has ended."""
        return np.where(times < self.end, self.flow.rate * self.kept, 0.0)

    def raw_rate(self, times: Floats) -> Floats:
        return np.where(times < self.end, self.flow.raw_rate * self.kept, 0.0)

    def window(self, times: Floats) -> Floats:
        """Tuples in the window."""
        if self.flow.is_table:
            return np.full(len(times), self.flow.window)
        arrived = np.minimum(times, self.end) * self.flow.rate * self.kept
        if not self.flow.shrinks:
            return np.minimum(arrived, self.flow.window)
        gone = np.clip(times - self.extent, 0.0, self.end) * self.flow.rate * self.kept
        return arrived - gone

    @property
    def extent(self) -> float:
        match self.item.window:
            case TimeWindow(extent=None):
                return float("inf")
        return float("inf") if self.flow.extent is None else self.flow.extent

    @property
    def changes(self) -> tuple[float, ...]:
        """When the window fills, the stream ends, and the window is empty again."""
        full = self.extent
        if not self.flow.shrinks and self.flow.rate:
            full = self.flow.window / (self.flow.rate * self.kept)
        return (full, self.end, self.end + self.extent)


def _moments(inputs: Iterable[_Arrivals], until: float) -> Floats:
    """Points in time, close together and on both sides of every change."""
    bounds = [0.0]
    for change in sorted({c for arrivals in inputs for c in arrivals.changes if c < until}):
        if change - bounds[-1] > _SAME_MOMENT * until:
            bounds.append(change)
    pieces = [
        np.linspace(start, np.nextafter(end, start), _POINTS)
        for start, end in pairwise([*bounds, until])
    ]
    return np.concatenate(pieces)


def _total(terms: Terms, rates: list[Floats], windows: list[Floats]) -> Floats:
    total = np.zeros(len(rates[0]))
    for term in terms:
        value = term.weight * rates[term.driver]
        for other in term.others:
            value = value * windows[other]
        total += value
    return total


def _integral(times: Floats, values: Floats) -> Floats:
    """The integral up to each time, piece by piece: values jump where a stream ends."""
    from scipy.integrate import cumulative_simpson

    out = np.zeros(len(times))
    for start in range(0, len(times), _POINTS):
        piece = slice(start, start + _POINTS)
        before = out[start - 1] if start else 0.0
        out[piece] = before + cumulative_simpson(values[piece], x=times[piece], initial=0.0)
    integral: Floats = np.maximum.accumulate(out)
    return integral
