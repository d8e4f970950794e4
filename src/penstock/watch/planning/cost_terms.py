"""Cost terms: how often each kind of work is done a second, and what that takes, as a planner says.

Work is linear in the costs of its kinds. So the number of times that a kind is done is the work
at costs of one second for that kind and of nothing for all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from penstock.adapt.predictions import Predictions
from penstock.optimize.model.folding import fold_seconds, tally_seconds
from penstock.optimize.model.problem import Problem
from penstock.plan.plan import Plan
from penstock.stats.costs import GUESSED_CLASSIFY, GUESSED_ROUTE, Costs
from penstock.stats.known import Known
from penstock.watch.plan_graph import CostTerm

OTHERWISE = "conditions"
"""Seconds that are of no kind: those of filters and other conditions, and of single windows."""

_KINDS = tuple(each.name for each in fields(Costs) if each.name not in ("origin", "join"))
_LEAST = 1e-9
"""A part of all work below which a kind is not told: it is what rounding leaves."""

Work = Callable[[Problem], float]
"""Seconds of work a second, of a plan or of a part of it."""


@dataclass(frozen=True)
class Reckoning:
    """A plan and what is known of its query, once for each kind of work."""

    plan: Plan
    known: Known

    @cached_property
    def problem(self) -> Problem:
        """The problem as the plan meets it: behind drop boxes, with what is aggregated early."""
        return self._with(self.known.costs)

    def terms(self, work: Work) -> tuple[CostTerm, ...]:
        """What a part of the plan takes, by the kinds of work in it."""
        base = work(self._nothing)
        whole = work(self.problem)
        found = [
            CostTerm(kind, count, unit, count * unit)
            for kind, (unit, problem) in self._alone.items()
            if (count := work(problem) - base) * unit > _LEAST * whole
        ]
        if base > _LEAST * whole:
            found.append(CostTerm(OTHERWISE, None, None, base))
        return tuple(found)

    @cached_property
    def _nothing(self) -> Problem:
        return self._with(_costs(self.known.costs, {}))

    @cached_property
    def _alone(self) -> Mapping[str, tuple[float, Problem]]:
        """The kinds that cost something: seconds of one, and the problem in which it costs one."""
        costs = self.known.costs
        return {
            kind: (unit, self._with(_costs(costs, {kind: 1.0}))) for kind, unit in _units(costs)
        }

    def _with(self, costs: Costs) -> Problem:
        return Predictions(self.plan, replace(self.known, costs=costs)).problem


def _units(costs: Costs) -> Iterator[tuple[str, float]]:
    """The seconds of each kind that are not zero; those that nobody has measured are guessed."""
    if costs.join is not None:
        yield "join", costs.join
    guessed = {
        "fold": fold_seconds(costs),
        "tally": tally_seconds(costs),
        "route": GUESSED_ROUTE,
        "classify": GUESSED_CLASSIFY,
    }
    for kind in _KINDS:
        given = getattr(costs, kind)
        unit = guessed[kind] if given is None else float(given)
        if unit > 0.0:
            yield kind, unit


def _costs(like: Costs, seconds: Mapping[str, float]) -> Costs:
    """Costs of nothing but these; one cost for all of a join stays one."""
    nothing: dict[str, Any] = dict.fromkeys(_KINDS, 0.0)
    join = None if like.join is None else 0.0
    return Costs(like.origin, **{"join": join, **nothing, **seconds})
