"""Chosen plans beside the order of FROM, on Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import inf
from typing import NotRequired, TypedDict

import numpy as np

from penstock.bench.decisions.case import Case
from penstock.bench.decisions.dominated import dominated
from penstock.calibration.batch_runs import RunPlan, spark_runs
from penstock.calibration.workload import Workload
from penstock.figure import Figure
from penstock.optimize.estimate import needed_by
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.rounds import batch_seconds
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.default_plan import default_plan
from penstock.plan.plan import Plan
from penstock.plan.text.parse import render_plan
from penstock.sampling.analyze import analyze
from penstock.stats.costs import Costs
from penstock.stats.guess import complete

Progress = Callable[[int, int], None]

QUERIES, FEW = 10, 3
"""Queries of each kind; and with `--quick`."""
TUPLES = 2_000_000
"""Of every query: enough that its work is more than what starting batches takes."""
_MOST_RESULTS = 20_000_000
_FILLINGS = 4
_SHORTEST, _BATCHES = 1.0, 4
_TIMES = 2
_LARGE, _DRAWS = 2.0, 3
"""A gain that is large; and how many queries are drawn for each that is wanted with one."""


@dataclass(frozen=True)
class Comparison:
    """Seconds of the order of FROM over those of the chosen plan, predicted and measured."""

    chosen: str
    predicted: float
    measured: float


class ComparisonFigures(TypedDict):
    """How many times faster the chosen plan is than the order of FROM."""

    chosen: str
    predicted_speedup: float
    speedup: float


class SparkFigures(TypedDict):
    """The figures on Spark for programs: how much faster the chosen plans are."""

    queries: int
    least_speedup: float
    median_speedup: float
    predicted_2x: int
    median_speedup_where_2x: float | None
    comparisons: list[ComparisonFigures]
    not_run: NotRequired[int]


@dataclass(frozen=True)
class Contest:
    """A query with the plan chosen for it, the order of FROM, and how much faster it should be."""

    chosen: Plan
    rival: Plan
    predicted: float


def compare_on_spark(
    cases: Sequence[Case], costs: Costs, progress: Progress, seed: int = 1, queries: int = QUERIES
) -> SparkFigures:
    """So many of the queries with faster streams, each tuple of which still finds as many partners,
    and as many more whose joins dominate."""
    contests = [contest_of(larger(case), costs) for case in cases]
    some = _worth_running(contests, queries)
    same = [c for c in contests if c not in some][: queries - len(some)]
    found = [Comparison(render_plan(c.chosen), 1.0, 1.0) for c in same]
    some = [*some, *large_gains(seed, costs, queries)]
    if some:
        with spark_runs() as run:
            run(some[0].rival)
            for number, contest in enumerate(some):
                progress(number, len(some))
                found.append(compared(contest, run))
    progress(len(some), len(some))
    return {**figures(found), "not_run": len(same)}


def large_gains(seed: int, costs: Costs, queries: int) -> list[Contest]:
    """Queries whose joins dominate, for which a large gain is predicted; as many as are found."""
    drawn = (contest_of(each, costs) for each in islice(dominated(seed), _DRAWS * queries))
    return list(islice((each for each in drawn if each.predicted >= _LARGE), queries))


def _worth_running(contests: Sequence[Contest], queries: int) -> list[Contest]:
    """Half of them are those with the largest predicted gain, half as they were drawn.

    Where the order of FROM itself was chosen there is nothing to run: that counts as equal.
    """
    others = [c for c in contests if render_plan(c.chosen) != render_plan(c.rival)]
    large = sorted(others, key=lambda c: -c.predicted)[: queries // 2]
    rest = [c for c in others if c not in large]
    return large + rest[: queries - len(large)]


def larger(case: Case) -> Workload:
    """The query of a case with as many tuples as Spark needs to be busy with them."""
    made = case.workload
    filled = _FILLINGS * max(stream.filling for stream in made.streams)
    lasting = replace(made, seconds=max(filled, _SHORTEST), batches=_BATCHES)
    results = float(case.problem.rates[case.problem.everything]) * lasting.seconds
    factor = min(TUPLES / lasting.tuples, _MOST_RESULTS / max(results, 1.0))
    return lasting.scaled(max(1.0, factor))


def contest_of(workload: Workload, costs: Costs) -> Contest:
    """The query of a workload, planned for Spark from sampled statistics."""
    query = workload.query()
    known = complete(query, analyze(query, seconds=inf), costs)
    # Here the plans are wanted as they are, however much a machine would have to do.
    problem = Problem(query, replace(known, capacity=Figure(float("inf"), "declared")))
    chosen, rival = decide(problem.known, PlanOptions(engine="spark")).plan, default_plan(query)
    expected = [_expected(problem, plan, workload) for plan in (rival, chosen)]
    return Contest(chosen, rival, expected[0] / expected[1])


def compared(contest: Contest, run: RunPlan) -> Comparison:
    """Both plans, taking turns."""
    turns = [(run(contest.rival).seconds, run(contest.chosen).seconds) for _ in range(_TIMES)]
    before, after = (min(times) for times in zip(*turns, strict=True))
    return Comparison(render_plan(contest.chosen), contest.predicted, before / after)


def _expected(problem: Problem, plan: Plan, workload: Workload) -> float:
    starting = _BATCHES * batch_seconds(problem, plan)
    return needed_by(problem, plan) * workload.seconds + starting


def figures(found: Sequence[Comparison]) -> SparkFigures:
    """The figures for programs: how much faster the chosen plans are."""
    ratios = [each.measured for each in found]
    large = [each.measured for each in found if each.predicted >= _LARGE]
    return {
        "queries": len(found),
        "least_speedup": round(min(ratios), 3),
        "median_speedup": round(float(np.median(ratios)), 3),
        "predicted_2x": len(large),
        "median_speedup_where_2x": round(float(np.median(large)), 3) if large else None,
        "comparisons": [
            {
                "chosen": each.chosen,
                "predicted_speedup": round(each.predicted, 3),
                "speedup": round(each.measured, 3),
            }
            for each in found
        ],
    }
