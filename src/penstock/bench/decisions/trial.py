"""A query tried: its plans predicted and measured, and how good the planner's choice was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf

from scipy.stats import spearmanr

from penstock.bench.decisions.case import Case, Tuples
from penstock.calibration.timing import Timed, timed
from penstock.errors import PenstockError
from penstock.figure import Figure
from penstock.optimize.estimate import estimate as estimate_of
from penstock.optimize.estimate import needed_by, with_drops
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.plan import Plan
from penstock.plan.text.parse import render_plan
from penstock.query.goal import STEADY

_FAR = 5.0
"""A plan that takes so many times as long as the fastest is run once: its place is clear."""
_CLOSE = 1.15
"""Plans within this of the fastest are run again, so that none is best by luck."""


@dataclass(frozen=True)
class Trial:
    """Predicted and measured CPU-seconds a second of every plan by text, and which was chosen."""

    case: Case
    chosen: str
    predicted: Mapping[str, float]
    measured: Mapping[str, float]

    @property
    def regret(self) -> float:
        """The time of the chosen plan over that of the fastest."""
        return self.measured[self.chosen] / min(self.measured.values())

    @property
    def correlation(self) -> float:
        """Spearman's rank correlation of predicted and measured cost."""
        texts = list(self.predicted)
        pairs = [(self.predicted[text], self.measured[text]) for text in texts]
        return float(spearmanr(*zip(*pairs, strict=True)).statistic)


@dataclass(frozen=True)
class Shedding:
    """Results that the chosen plan keeps over the most that any plan does, and the part of the
    capacity that it takes."""

    kept_vs_best: float
    used: float


def weigh(case: Case, repeats: int) -> Trial:
    """Run all plans of a query, taking turns: far slower ones once, the closest ones more often."""
    chosen = decide(case.problem.known, PlanOptions(engine="laboratory")).plan
    plans = {**case.plans, render_plan(chosen): chosen}
    fastest: dict[str, float] = {}
    for turns, factor in ((1, inf), (repeats - 1, _FAR), (repeats, _CLOSE)):
        limit = factor * min(fastest.values(), default=inf)
        near = {t: p for t, p in plans.items() if p is chosen or fastest.get(t, 0.0) <= limit}
        _take_turns(case, near, turns, fastest)
    return Trial(
        case,
        render_plan(chosen),
        {text: needed_by(case.problem, plan) for text, plan in plans.items()},
        {text: spent / case.workload.seconds for text, spent in fastest.items()},
    )


def _take_turns(
    case: Case, plans: Mapping[str, Plan], repeats: int, fastest: dict[str, float]
) -> None:
    results = set()
    for _ in range(repeats):
        for text, plan in plans.items():
            run = timed(plan, case.tuples)
            results.add(run.results)
            fastest[text] = min(run.seconds, fastest.get(text, run.seconds))
    if len(results) > 1:
        raise PenstockError(
            f"plans for one query gave different results: {sorted(results)}",
            hint="this is a mistake in Penstock; please report it with the seed",
        )


def shed(case: Case, share: float, repeats: int) -> Shedding:
    """The same with a capacity of a share of what the least plan needs, so that all must shed.

    A plan is better only if it keeps more results within the capacity, or within what the chosen
    one takes where that is over it.
    """
    least = min(needed_by(case.problem, plan) for plan in case.plans.values())
    known = replace(case.problem.known, capacity=Figure(share * least, "declared"))
    problem = Problem(known.query, known)
    chosen = decide(known, PlanOptions(engine="laboratory", sheds=True)).plan
    own = _best_of(chosen, case.tuples, repeats)
    allowed = max(known.capacity.value * case.workload.seconds, own.seconds)
    kept = [own.results]
    for plan in case.plans.values():
        rival = with_drops(plan, estimate_of(problem, plan, STEADY))
        run = _best_of(rival, case.tuples, repeats)
        kept += [run.results] if run.seconds <= allowed else []
    used = own.seconds / case.workload.seconds / known.capacity.value
    return Shedding(own.results / max(max(kept), 1), used)


def _best_of(plan: Plan, tuples: Tuples, repeats: int) -> Timed:
    return min((timed(plan, tuples) for _ in range(repeats)), key=lambda run: run.seconds)
