"""The joint curve: what to keep of the streams of several queries, for every budget of their work.

One capacity is shared out as it is at the start of a script: where it keeps the largest part of a
query's results, each query counting as much as another.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from penstock.adapt.settings import DEFAULT_SETTINGS, Settings
from penstock.adapt.shedding.forecast import Forecast, first_that
from penstock.adapt.shedding.keep_curve import KeepCurve
from penstock.adapt.shedding.work_model import Job, WorkModel
from penstock.engine.reports.report import Report
from penstock.optimize.algebra.posynomial import value
from penstock.optimize.script_shedding import CapacityPoint, shared_out

Positions = Mapping[str, float]


@dataclass(frozen=True)
class JointCurve:
    """Positions on the curves of queries, by name: at 0 all is kept of all of them. A position is
    the number of a point, or between."""

    curves: Mapping[str, KeepCurve]
    points: tuple[Positions, ...]
    weights: Mapping[str, int] = field(default_factory=dict)
    """The queries that each stands for; one, if nothing is said."""

    @property
    def end(self) -> float:
        return float(len(self.points) - 1)

    def position(self, name: str, position: float) -> float:
        """Where a query is on its own curve."""
        low = int(min(position, self.end))
        one = self.points[low].get(name, 0.0)
        part = position - low
        if part <= 0.0 or low == self.end:
            return one
        return one + part * (self.points[low + 1].get(name, 0.0) - one)

    def kept(self, position: float) -> dict[str, dict[str, float]]:
        """The fractions of the streams of each query, by name and alias."""
        places = {name: self.position(name, position) for name in self.curves}
        return {name: curve.kept(places[name]) for name, curve in self.curves.items()}

    def share(self, kept: Mapping[str, Mapping[str, float]]) -> float:
        """The part of their results that fractions leave in the mean of the queries."""
        weights = [self.weights.get(name, 1) for name in self.curves]
        shares = [curve.share(kept.get(name, {})) for name, curve in self.curves.items()]
        whole = sum(w * share for w, share in zip(weights, shares, strict=True))
        return whole / sum(weights) if weights else 1.0


def joint_curve(
    curves: Mapping[str, KeepCurve],
    settings: Settings = DEFAULT_SETTINGS,
    weights: Mapping[str, int] | None = None,
) -> JointCurve:
    """The curve of queries that may shed, over their own; `weights` are for how many queries each
    of them finds what it finds."""
    weights = weights or {}
    if not curves:
        return JointCurve(curves, ({},))
    ends = {name: _capacities(curve, weights.get(name, 1)) for name, curve in curves.items()}
    most = sum(points[-1].capacity for points in ends.values())
    least = sum(points[0].capacity for points in ends.values())
    budgets = most * np.geomspace(1.0, max(least / most, 1e-6), settings.shed_points)
    given = [shared_out(ends, max(least, float(budget))) for budget in budgets[1:]]
    places = [{name: _place(curves[name], own) for name, own in each.items()} for each in given]
    return JointCurve(curves, ({}, *places), weights)


def _loads(curve: KeepCurve) -> list[float]:
    """The work at each point of a curve, which falls from one to the next."""
    loads = [value(point.load, list(point.fractions)) for point in curve.points]
    return [min(loads[: n + 1]) for n in range(len(loads))]


def _capacities(curve: KeepCurve, weight: int) -> list[CapacityPoint]:
    """What is left of a query's results by the work that it may take, from the least on."""
    found: dict[float, CapacityPoint] = {}
    for number, load in enumerate(_loads(curve)):
        share = weight * curve.share(curve.kept(float(number)))
        found.setdefault(load, CapacityPoint(load, share))
    return [found[load] for load in sorted(found)]


def _place(curve: KeepCurve, capacity: float) -> float:
    """Where on its curve a query takes so much."""
    falling = _loads(curve)
    rising = falling[::-1]
    above = bisect_left(rising, capacity)
    if above == len(rising):
        return 0.0
    number = len(rising) - 1 - above
    if above == 0 or rising[above] == capacity:
        return float(number)
    low, high = rising[above - 1], rising[above]
    return number + (high - capacity) / (high - low)


@dataclass(frozen=True)
class JointForecast:
    """What the batches of a script take: the work of all its queries in one model of seconds."""

    parts: Mapping[str, Forecast]
    curve: JointCurve
    model: WorkModel

    def seconds(self, position: float, span: float, ahead: float = 0.0) -> float:
        """Seconds of the batch that reads a span of event time and keeps so much of it, next or so
        many batches ahead."""
        places = {name: self.curve.position(name, position) for name in self.parts}
        jobs = {name: part.job(places[name], span, ahead) for name, part in self.parts.items()}
        return self.model.seconds(self._whole(jobs))

    def position(
        self, seconds: float, span: float, ahead: float = 0.0, later: float = 0.0
    ) -> float:
        """Where on the curve the next batch, and one `ahead` of it, take no more than so many
        seconds: 0 where all may be kept."""

        def fits(position: float) -> bool:
            now = self.seconds(position, span)
            return now <= seconds and self.seconds(position, later or span, ahead) <= seconds

        return first_that(fits, self.curve.end)

    def done(self, report: Report) -> Job:
        """The work of a batch that is over."""
        return self._whole({n: part.done(report.members[n]) for n, part in self.parts.items()})

    @property
    def weighed_for(self) -> float:
        """Seconds of event time for which estimates are made, if nothing more is shed."""
        return max((part.weighed_for for part in self.parts.values()), default=0.0)

    def share(self, position: float) -> float:
        """The part of the results that is left at a position, in the long run."""
        return self.curve.share(self.curve.kept(position))

    def _whole(self, jobs: Mapping[str, Job]) -> Job:
        """The work of all; that of queries which are never shed is one part."""
        others = [job for name, job in jobs.items() if name not in self.curve.curves]
        parts = [jobs[name] for name in self.curve.curves]
        whole = _added(list(jobs.values()))
        return replace(whole, parts=(*parts, *([_added(others)] if others else [])))


def _added(jobs: list[Job]) -> Job:
    rows, load, results = (
        sum(getattr(job, name) for job in jobs) for name in ("rows", "load", "results")
    )
    return Job(rows, load, results)
