"""Fractions to keep of the inputs of a plan that cannot keep up, for the most output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np

from penstock.optimize.algebra.posynomial import Posynomial, value
from penstock.optimize.model.folding import with_early, with_sample_weights
from penstock.optimize.model.load import load_of
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.work import output_of
from penstock.optimize.shedding.fractions import best_drops
from penstock.optimize.shedding.search import Array
from penstock.plan.plan import Plan
from penstock.query import RowsWindow, TimeWindow

Fractions = tuple[float, ...]

# Where inputs fold the search ends at steps that gain less than so many times the tolerance: the
# last of them cost most of the time and no longer tell plans apart.
_COARSER = 100.0
# An evaluation in which inputs fold counts as so many: the load is made anew for each.
FOLDED = 8
# Nothing is shed to less than this, or to less than this part of what was found for it.
_LEAST = 1e-9


def best_fractions(problem: Problem, plan: Plan, tolerance: float) -> Fractions:
    """The fractions that leave the most output, or the floors where even they are too much.

    How far tuples fold depends on how many are kept. So early inputs are first taken not to fold
    at all, which keeps too little; from there the best is searched with what folds in fact.
    """
    shed = with_sample_weights(problem)
    unfolded = with_early(shed, plan.early, by_alias(problem, (0.0,) * problem.size))
    capacity, lowest = problem.known.capacity.value, floors(problem)
    load, output = load_of(unfolded, plan), output_of(problem, plan)
    kept = best_drops(load, output, lowest, capacity, tolerance, problem.effort)
    if kept is None:
        return tuple(lowest)
    if not plan.early or kept.output <= 0.0:
        return kept.fractions
    return _Search(shed, plan, output, lowest).best(kept.fractions, _COARSER * tolerance)


def fractions_of_one(problem: Problem, plan: Plan, place: int) -> Fractions | None:
    """The fractions that use all of the capacity where one input alone is shed; None if that one
    is not enough, or may not be shed."""
    low = floors(problem)[place]
    if low >= 1.0:
        return None
    shed = with_sample_weights(problem, (problem.inputs[place].alias,), plan.early)
    search = _Search(shed, plan, (), ())

    def fractions(log_of_one: float) -> Fractions:
        return tuple(exp(log_of_one) if i == place else 1.0 for i in range(problem.size))

    def over(log_of_one: float) -> float:
        return search.over(fractions(log_of_one))

    least = log(max(low, _LEAST))
    return None if over(least) > 0.0 else fractions(_root(over, least, 0.0))


def by_alias(problem: Problem, x: Sequence[float]) -> dict[str, float]:
    """The fractions that are kept of the streams."""
    flows = zip(problem.inputs, x, strict=True)
    return {flow.alias: fraction for flow, fraction in flows if not flow.is_table}


def floors(problem: Problem) -> list[float]:
    """The least fraction that may be kept of each input.

    A ROWS window needs `N / (rate · warm-up)` of its stream, or it would hardly ever be full; a
    table keeps all, and so does a window that must be full at once. So does a view as it is: with
    an upsert less it would show what was there before.
    """
    return [
        1.0 if item.is_relation else _floor(problem, item.window, flow.raw_rate)
        for item, flow in zip(problem.query.inputs, problem.inputs, strict=True)
    ]


def _floor(problem: Problem, window: RowsWindow | TimeWindow | None, rate: float) -> float:
    match window:
        case None:
            return 1.0
        case RowsWindow(count=count):
            arriving = rate * problem.known.rows_warmup
            return 1.0 if arriving <= count else count / arriving
    return 0.0


@dataclass(frozen=True)
class _Search:
    """The fractions of a plan with early inputs, whose load is no sum of products of them."""

    problem: Problem
    plan: Plan
    output: Posynomial
    floors: Sequence[float]

    def best(self, start: Fractions, tolerance: float) -> Fractions:
        """The best fractions near the given ones, by sequential quadratic programming.

        Output and work are about products of powers of the fractions: logarithms straighten them.
        """
        from scipy.optimize import minimize

        first = self.filled(start)
        free = [i for i, low in enumerate(self.floors) if low < 1.0 and first[i] > 0.0]
        if not free:
            return first

        def fractions(logs: Array) -> Fractions:
            found = dict(zip(free, np.exp(logs).tolist(), strict=True))
            return tuple(found.get(i, fraction) for i, fraction in enumerate(first))

        found = minimize(
            lambda logs: -log(value(self.output, fractions(logs))),
            [log(first[i]) for i in free],
            method="SLSQP",
            bounds=[(log(max(self.floors[i], _LEAST)), 0.0) for i in free],
            constraints={"type": "ineq", "fun": lambda logs: -self.over(fractions(logs))},
            options={"ftol": tolerance},
        )
        if not np.isfinite(found.x).all():
            return first
        return max(first, self.filled(fractions(found.x)), key=lambda x: value(self.output, x))

    def over(self, x: Fractions) -> float:
        """The logarithm of how many times the capacity is needed."""
        self.problem.effort.evaluations += FOLDED
        kept = by_alias(self.problem, x)
        folded = with_early(self.problem, self.plan.early, kept)
        return log(value(load_of(folded, self.plan), x) / self.problem.known.capacity.value)

    def filled(self, x: Fractions) -> Fractions:
        """The same proportions, as far as floors and 1 allow, with all of the capacity used."""

        def scaled(power: float) -> Fractions:
            pairs = zip(x, self.floors, strict=True)
            return tuple(min(1.0, max(low, fraction * exp(power))) for fraction, low in pairs)

        def over(power: float) -> float:
            return self.over(scaled(power))

        least, most = log(_LEAST), -log(min(fraction for fraction in x if fraction > 0.0))
        if over(0.0) <= 0.0:
            return scaled(_root(over, 0.0, most))
        return tuple(self.floors) if over(least) > 0.0 else scaled(_root(over, least, 0.0))


def _root(over: Callable[[float], float], low: float, high: float) -> float:
    """Where the capacity is used, or the upper end where it never is."""
    from scipy.optimize import brentq

    return high if over(high) <= 0.0 else float(brentq(over, low, high))
