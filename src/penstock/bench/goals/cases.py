"""Queries whose first results want another plan than the long run, and what is foreseen of both."""

from __future__ import annotations

from dataclasses import dataclass, replace

from penstock.calibration.workload import MadeStream, Workload
from penstock.optimize.curves.curve import PlanCurve, curve_of, results_curve
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.plan import Plan
from penstock.query.goal import By, First, Goal
from penstock.stats.costs import Costs
from penstock.stats.guess import complete

SECONDS = 0.2
"""Event time of the data, which comes faster than any plan takes it: a backlog."""
BATCHES = 8
SHARE = 0.5
"""The part of all results that `first` asks for."""
PART = 0.25
"""The part of them that the steady plan has when `by` asks."""


@dataclass(frozen=True)
class GoalCase:
    """A query with the plans of its goal and of the long run, and their curves as foreseen."""

    name: str
    goal: Goal
    chosen: Plan
    steady: Plan
    curves: tuple[PlanCurve, PlanCurve]

    @property
    def predicted(self) -> float:
        """How many times as soon, or as many results, the chosen plan has."""
        return gain(self.goal, *((c.times.tolist(), c.counts.tolist()) for c in self.curves))


Course = tuple[list[float], list[float]]
"""Times, and the results by each of them."""


def gain(goal: Goal, chosen: Course, steady: Course) -> float:
    """How many times as soon, or as many, by two courses of results.

    For `by` that is when the steady plan has a quarter of all, whenever that is.
    """
    from numpy import interp

    total = min(chosen[1][-1], steady[1][-1])
    if isinstance(goal, First):
        soon, late = (float(interp(SHARE * total, c[1], c[0])) for c in (chosen, steady))
        return late / soon
    moment = float(interp(PART * total, steady[1], steady[0]))
    return float(interp(moment, chosen[0], chosen[1])) / (PART * total)


def goal_cases(costs: Costs, factor: float) -> tuple[GoalCase, ...]:
    """All cases, with so many times the tuples."""
    return tuple(
        _case(name, workload.scaled(factor), kind, costs)
        for name, workload in WORKLOADS.items()
        for kind in ("first", "by")
    )


def _case(name: str, workload: Workload, kind: str, costs: Costs) -> GoalCase:
    query = workload.query()
    # The streams would go on; only their beginning is run.
    known = replace(complete(query, replace(workload.statistics(), costs=costs)), cardinalities={})
    problem = Problem(query, known)
    steady = decide(known, PlanOptions(engine="spark")).plan
    late = curve_of(problem, steady, workload.seconds)
    total = results_curve(problem, workload.seconds).total
    goal: Goal = First(max(1, round(SHARE * total)))
    if kind == "by":
        goal = By(late.time_of(PART * total) or workload.seconds)
    chosen = decide(known, PlanOptions(engine="spark", goal=goal)).plan
    return GoalCase(
        f"{name}, {kind}", goal, chosen, steady, (curve_of(problem, chosen, workload.seconds), late)
    )


def _streams(*others: MadeStream) -> tuple[MadeStream, ...]:
    """A fast stream that all others are joined with, and one whose window fills for minutes."""
    keys = {key: count for other in others for key, count in other.keys.items()}
    slow = MadeStream("B", 4_000.0, {"k": 4_000}, extent=36.0)
    return (MadeStream("A", 4e6, {"k": 4_000, **keys}, extent=0.02), slow, *others)


WORKLOADS = {
    "long window": Workload(
        _streams(MadeStream("C", 4e6, {"l": 10_000}, extent=0.02)), SECONDS, batches=BATCHES
    ),
    "two short ones": Workload(
        _streams(
            MadeStream("C", 2e6, {"l": 10_000}, extent=0.02),
            MadeStream("D", 1e6, {"m": 8_000}, extent=0.02),
        ),
        SECONDS,
        batches=BATCHES,
    ),
}
"""New tuples of A find many partners in the short windows, and few in B's long one at first; once
that is full, it is the other way round."""
