"""Arrivals: what of each input has come by a time, and how full its window is then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from penstock.optimize.model.distinct import occupied
from penstock.optimize.model.flow import Flow, flow_of
from penstock.optimize.model.problem import Floats, Problem
from penstock.query import TimeWindow
from penstock.query.query import Input

POINTS = 65
"""Between two moments at which a window fills or a stream ends everything is a polynomial; this
many points each are far more than Simpson's rule needs for ten inputs."""

# Changes that are closer together than this fraction of the whole time are one, rounded apart.
_SAME_MOMENT = 1e-12


@dataclass(frozen=True)
class Arrivals:
    """One input over time, shed to a fraction; `folded` is what is joined where its tuples are
    aggregated early."""

    item: Input
    flow: Flow
    kept: float = 1.0
    folded: Flow | None = None

    @property
    def joined(self) -> Flow:
        """The input as it reaches the joins."""
        return self.folded or self.flow

    @property
    def end(self) -> float:
        """When the stream has run dry, seconds."""
        if self.flow.cardinality is None or self.flow.is_table:
            return float("inf")
        return self.flow.cardinality / self.flow.raw_rate

    def rate(self, times: Floats) -> Floats:
        """Tuples/s that reach the joins; zero once the stream has ended."""
        return np.where(times < self.end, self.joined.rate * self.kept, 0.0)

    def raw_rate(self, times: Floats) -> Floats:
        """Tuples/s before the filters."""
        return np.where(times < self.end, self.flow.raw_rate * self.kept, 0.0)

    def window(self, times: Floats) -> Floats:
        """Rows in the window: tuples, or what they are folded to."""
        tuples = self._tuples(times)
        if self.folded is None or not self.flow.window:
            return tuples
        if self.extent == float("inf") and self.flow.shrinks:
            return np.array([occupied(self.folded.cells, float(each)) for each in tuples])
        return tuples * (self.folded.window / self.flow.window)

    def _tuples(self, times: Floats) -> Floats:
        if self.flow.is_table:
            return np.full(len(times), self.flow.window)
        arrived = np.minimum(times, self.end) * self.flow.rate * self.kept
        if not self.flow.shrinks:
            return np.minimum(arrived, self.flow.window)
        gone = np.clip(times - self.extent, 0.0, self.end) * self.flow.rate * self.kept
        return arrived - gone

    @property
    def extent(self) -> float:
        """Seconds for which a tuple is in the window."""
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


def arrivals_of(problem: Problem, kept: Sequence[float] = ()) -> list[Arrivals]:
    """The inputs of a problem over time, some of them perhaps folded."""
    x = kept or [1.0] * problem.size
    return [
        Arrivals(item, flow, fraction)
        if flow.occupied is None
        else Arrivals(item, flow_of(problem.known, item), fraction, folded=flow)
        for item, flow, fraction in zip(problem.query.inputs, problem.inputs, x, strict=True)
    ]


def pieces(inputs: Iterable[Arrivals], until: float) -> list[tuple[float, float]]:
    """The stretches of time in which nothing fills, ends or empties."""
    bounds = [0.0]
    for change in sorted({c for arrivals in inputs for c in arrivals.changes if c < until}):
        if change - bounds[-1] > _SAME_MOMENT * until:
            bounds.append(change)
    return list(pairwise([*bounds, until]))


def moments(inputs: Iterable[Arrivals], until: float) -> Floats:
    """Points in time, close together and on both sides of every change."""
    stretches = [
        np.linspace(start, np.nextafter(end, start), POINTS) for start, end in pieces(inputs, until)
    ]
    return np.concatenate(stretches)


def integral(times: Floats, values: Floats) -> Floats:
    """The integral up to each time, piece by piece: values jump where a stream ends."""
    from scipy.integrate import cumulative_simpson

    out = np.zeros(len(times))
    for start in range(0, len(times), POINTS):
        piece = slice(start, start + POINTS)
        before = out[start - 1] if start else 0.0
        out[piece] = before + cumulative_simpson(values[piece], x=times[piece], initial=0.0)
    total: Floats = np.maximum.accumulate(out)
    return total


def last_arrival(problem: Problem) -> float | None:
    """When the last stream ends, in seconds; None if one never does."""
    ends = [
        None if flow.cardinality is None else flow.cardinality / flow.raw_rate
        for flow in problem.inputs
        if not flow.is_table
    ]
    return None if None in ends else max(end for end in ends if end is not None)
