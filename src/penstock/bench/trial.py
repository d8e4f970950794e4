"""One drawn query: its plans predicted and measured, and how good the planner's choice was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random

import pyarrow as pa
from scipy.stats import spearmanr

from penstock.bench.contenders import contenders
from penstock.bench.drawn import draw
from penstock.engine.local.experiment import read_all
from penstock.errors import PenstockError
from penstock.monitor.analyze import analyze
from penstock.monitor.timing import Timed, timed
from penstock.monitor.workload import Workload
from penstock.optimize.estimate import estimate as estimate_of
from penstock.optimize.estimate import needed_by, with_drops
from penstock.optimize.planner import Wishes, decide
from penstock.optimize.problem import Problem
from penstock.plan.force import render_plan
from penstock.plan.plan import Plan
from penstock.query.goal import STEADY
from penstock.stats.costs import Costs
from penstock.stats.figure import Figure
from penstock.stats.guess import complete

Tuples = Mapping[str, pa.Table]

BEST, WORST = 0.005, 1.5
"""CPU-seconds that the plans of a query should take: the best at least, the worst at most."""
MOST_TUPLES = 200_000
_FILLINGS = 8
"""Windows are full for most of the time if the streams last so many times as long."""
_MOST_RESULTS = 1_000_000
_FAR = 2.0
"""A plan (of random orders, as a rule) that is so far beyond the bounds is not run."""
_CLOSE = 1.15
"""Plans within this of the fastest are run again, so that none is best by luck."""


@dataclass(frozen=True)
class Case:
    """A query with all that is asked of it: its tuples, its problem, and its plans by text."""

    workload: Workload
    problem: Problem
    tuples: Tuples
    plans: Mapping[str, Plan]


@dataclass(frozen=True)
class Trial:
    """Predicted and measured CPU-seconds a second of every plan by text, and which was chosen."""

    case: Case
    chosen: str
    predicted: Mapping[str, float]
    measured: Mapping[str, float]

    @property
    def regret(self) -> float:
        """What the chosen plan takes, over what the fastest takes."""
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


def prepare(rng: Random, size: int, costs: Costs, results: int = 0) -> Case:
    """A query whose plans take a measurable but bounded time, by what its sources tell of it.

    It has at least so many results.
    """
    while True:
        drawn = draw(rng, size)
        rough = Problem(query := drawn.query(), complete(query, drawn.statistics(), costs))
        seconds = _length(drawn, rough, contenders(rough, Random(0)), results)
        if seconds is not None:
            break
    workload = drawn.lasting(seconds)
    query = workload.query()
    problem = Problem(query, complete(query, analyze(query), costs))
    plans = contenders(problem, rng)
    bounded = {t: p for t, p in plans.items() if needed_by(problem, p) * seconds <= _FAR * WORST}
    return Case(workload, problem, read_all(query), bounded)


def _length(
    workload: Workload, problem: Problem, plans: Mapping[str, Plan], results: int
) -> float | None:
    """Seconds of event time within all bounds; None if there are none."""
    needed = [needed_by(problem, plan) for plan in plans.values()]
    rate = max(float(problem.rates[problem.everything]), 1e-9)
    filled = _FILLINGS * max(stream.filling for stream in workload.streams)
    least = max(filled, BEST / min(needed), results / rate)
    most = min(
        WORST / max(needed),
        MOST_TUPLES / workload.tuples,
        _MOST_RESULTS / rate,
    )
    return least if least <= most else None


def weigh(case: Case, repeats: int) -> Trial:
    """Run all plans of a query, taking turns, and the closest ones again."""
    chosen = decide(case.problem.known, Wishes(engine="laboratory")).plan
    plans = {**case.plans, render_plan(chosen): chosen}
    fastest: dict[str, float] = {}
    _take_turns(case, plans, repeats, fastest)
    limit = _CLOSE * min(fastest.values())
    close = {t: p for t, p in plans.items() if fastest[t] <= limit or p is chosen}
    _take_turns(case, close, repeats, fastest)
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
    chosen = decide(known, Wishes(engine="laboratory", sheds=True)).plan
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
