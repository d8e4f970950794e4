"""The keep curve: the best fractions to keep of each stream for every budget of work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import exp, log

import numpy as np

from penstock.adapt.settings import DEFAULT_SETTINGS, Settings
from penstock.figure import Figure
from penstock.optimize.algebra.posynomial import Posynomial, value
from penstock.optimize.estimate import needed_by
from penstock.optimize.model.folding import with_early, with_sample_weights
from penstock.optimize.model.load import load_of
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.work import output_of
from penstock.optimize.shedding.keeping import best_fractions, by_alias, fractions_of_one
from penstock.plan.plan import Plan
from penstock.stats.known import Known

_TOLERANCE = 1e-3
"""Fractions need be no better than they can be followed."""
_NOTHING = 1e-6


Streams = frozenset[str]


@dataclass(frozen=True)
class Point:
    """The best fractions for one budget, in the order of FROM, and the load that they leave."""

    fractions: tuple[float, ...]
    load: Posynomial


@dataclass(frozen=True)
class KeepCurve:
    """Fractions from all to next to nothing. A position is the number of a point, or between."""

    plan: Plan
    problem: Problem
    points: tuple[Point, ...]
    _weighed: dict[tuple[int, Streams], Posynomial] = field(
        default_factory=dict, repr=False, compare=False
    )

    @property
    def end(self) -> float:
        return float(len(self.points) - 1)

    def fractions(self, position: float) -> tuple[float, ...]:
        """The fractions at a position, in the order of FROM."""
        low = int(min(position, self.end))
        part = position - low
        if not part:
            return self.points[low].fractions
        pairs = zip(self.points[low].fractions, self.points[low + 1].fractions, strict=True)
        return tuple(_between(one, other, part) for one, other in pairs)

    def load(self, position: float, weighed: Streams = frozenset()) -> Posynomial:
        """The load by multiples of what the figures say flows in, folded as it is there, while the
        windows of some streams hold tuples with weights from before."""
        number = int(np.ceil(min(position, self.end)))
        if weighed <= _sampled(self.kept(number)):
            return self.points[number].load
        if (number, weighed) not in self._weighed:
            self._weighed[number, weighed] = self.load_of(self.kept(number), weighed)
        return self._weighed[number, weighed]

    def load_of(self, kept: Mapping[str, float], weighed: Streams) -> Posynomial:
        """The load of such fractions, likewise."""
        return _load(self.problem, self.plan, kept, weighed | _sampled(kept))

    def kept(self, position: float) -> dict[str, float]:
        """The fractions of the streams, by alias."""
        return by_alias(self.problem, self.fractions(position))

    def share(self, fractions: Mapping[str, float]) -> float:
        """The part of the results that fractions leave in the long run."""
        x = [fractions.get(alias, 1.0) for alias in self.problem.query.aliases]
        return value(self.output, x) / (value(self.output, [1.0] * len(x)) or 1.0)

    @cached_property
    def output(self) -> Posynomial:
        """Results/s, by multiples of what the figures say flows in."""
        return output_of(self.problem, self.plan)


def keep_curve(known: Known, plan: Plan, settings: Settings = DEFAULT_SETTINGS) -> KeepCurve:
    """The curve of a plan by what is known now."""
    whole = whole_curve(known, plan)
    needed = needed_by(whole.problem, plan)
    budgets = needed * np.geomspace(1.0, settings.shed_least_kept, settings.shed_points)[1:]
    points = (_point(known, plan, float(b), whole.output) for b in budgets)
    return replace(whole, points=(*whole.points, *points))


def whole_curve(known: Known, plan: Plan, settings: Settings = DEFAULT_SETTINGS) -> KeepCurve:
    """The curve of a plan that may not shed: it has one point."""
    problem = Problem(known.query, known)
    ones = (1.0,) * problem.size
    return KeepCurve(plan, problem, (Point(ones, load_of(with_early(problem, plan.early), plan)),))


def _point(known: Known, plan: Plan, budget: float, output: Posynomial) -> Point:
    """The best fractions of a budget. Of a view it may be the best to shed one stream alone: the
    more of them carry weights, the longer its estimates take."""
    problem = Problem(known.query, replace(known, capacity=Figure(budget, "measured")))
    found = [best_fractions(problem, plan, _TOLERANCE)]
    if known.query.view is not None:
        alone = (fractions_of_one(problem, plan, place) for place in range(problem.size))
        found += [x for x in alone if x is not None]
    x = max(found, key=lambda x: value(output, x))
    kept = by_alias(problem, x)
    return Point(x, _load(problem, plan, kept, _sampled(kept)))


def _load(problem: Problem, plan: Plan, kept: Mapping[str, float], weighed: Streams) -> Posynomial:
    if not weighed:
        return load_of(with_early(problem, plan.early), plan)
    estimated = with_sample_weights(problem, weighed, plan.early)
    return load_of(with_early(estimated, plan.early, kept), plan)


def _sampled(kept: Mapping[str, float]) -> Streams:
    return frozenset(alias for alias, fraction in kept.items() if fraction < 1.0)


def _between(one: float, other: float, part: float) -> float:
    logs = log(max(one, _NOTHING)), log(max(other, _NOTHING))
    return exp(logs[0] + part * (logs[1] - logs[0]))
