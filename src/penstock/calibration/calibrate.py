"""This machine's costs for one tuple, measured on workloads of which everything is known.

A session on Spark has few runs, because each takes seconds; the laboratory has many.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from penstock.calibration.batch_runs import RunPlan, run_in_process, spark_runs
from penstock.calibration.designed import (
    batch_plans,
    batched,
    designed,
    plans_for,
    spark_plans,
    viewed,
    viewed_on_spark,
)
from penstock.calibration.fit import Fit, MeasuredRun, fit
from penstock.calibration.meshes import classify_seconds, route_seconds
from penstock.calibration.timing import least
from penstock.calibration.unit import BATCHES, LABORATORY, spark_units
from penstock.calibration.workload import Workload
from penstock.lab.experiment import read_all
from penstock.optimize.estimate import needed_by
from penstock.optimize.model.problem import Problem
from penstock.plan.plan import Plan
from penstock.stats.costs import Costs
from penstock.stats.guess import complete

Plans = Callable[[Problem], Iterable[Plan]]
Progress = Callable[[int, int], None]
"""Is told how many workloads are done, and of how many."""


@dataclass(frozen=True)
class Thoroughness:
    """How much is run: the tuples of a workload, their batches, the plans, and how many times."""

    tuples: int
    times: int
    batched_tuples: int
    batches: int
    trees: int
    batched_times: int
    spark_tuples: int
    spark_times: int


# Of a size that the clock resolves well; batches need more tuples to show what a tuple costs.
THOROUGH = Thoroughness(
    tuples=60_000, times=4, batched_tuples=300_000, batches=4, trees=2, batched_times=2,
    spark_tuples=300_000, spark_times=2,
)  # fmt: skip
# On Spark every batch takes a third of a second or more: few are all there is time for.
QUICK = Thoroughness(
    tuples=15_000, times=2, batched_tuples=120_000, batches=2, trees=1, batched_times=2,
    spark_tuples=60_000, spark_times=1,
)  # fmt: skip

# A plan of products can take hundreds of times as long as the others; it would tell nothing new.
_LONGEST = 0.5


def calibrate_laboratory(progress: Progress, how: Thoroughness = THOROUGH) -> Fit:
    """The costs of joining tuple by tuple in one process, in CPU-seconds."""
    runs: list[MeasuredRun] = []
    workloads = tuple(designed(how.tuples))
    for number, workload in enumerate(workloads):
        progress(number, len(workloads))
        runs += _measured(workload, how.times)
    progress(len(workloads), len(workloads))
    found = fit(runs, LABORATORY)
    return replace(found, costs=replace(found.costs, classify=classify_seconds(how.times)))


def calibrate_local(progress: Progress, how: Thoroughness = THOROUGH) -> Fit:
    """The costs of joining and aggregating in batches in one process, in CPU-seconds."""
    size = (how.batched_tuples, how.batches)
    workloads = (*batched(*size), *viewed(*size))
    progress(0, len(workloads))
    plans = partial(batch_plans, trees=how.trees)
    runs = _batch_runs(workloads, run_in_process, progress, plans, how.batched_times)
    found = fit(tuple(runs), BATCHES)
    route, classify = route_seconds(how.batched_times), classify_seconds(how.batched_times)
    return replace(found, costs=replace(found.costs, route=route, classify=classify))


def calibrate_spark(here: Costs, progress: Progress, how: Thoroughness = THOROUGH) -> Fit:
    """The costs of joining and aggregating in batches on Spark, in seconds of the whole session.

    Views are run late, folded and recomputed. The proportions of what a join does are those of one
    process, `here`. So is what meshes take: tasks slice and classify as one process does.
    """
    size = (how.spark_tuples, how.batches)
    workloads = (*batched(*size), *viewed_on_spark(*size))
    progress(0, len(workloads))
    plans = partial(spark_plans, trees=how.trees)
    with spark_runs() as run:
        runs = tuple(_batch_runs(workloads, run, progress, plans, how.spark_times))
    found = fit(runs, spark_units(here, len(os.sched_getaffinity(0))))
    costs = replace(found.costs, route=here.route, classify=here.classify)
    return replace(found, costs=costs)


def _batch_runs(
    workloads: Sequence[Workload], run: RunPlan, progress: Progress, plans: Plans, times: int
) -> Iterator[MeasuredRun]:
    # The first runs wait for workers to start and for code to be compiled.
    for warm in _smallest(workloads):
        for plan in plans(_exact(warm)):
            run(plan)
    for number, workload in enumerate(workloads, start=1):
        problem = _exact(workload)
        for plan in plans(problem):
            found = min((run(plan) for _ in range(times)), key=lambda r: r.seconds)
            spent = (workload.seconds, found.seconds)
            yield MeasuredRun(problem, plan, *spent, found.batches, found.rounds)
        progress(number, len(workloads))


def _smallest(workloads: Sequence[Workload]) -> Iterator[Workload]:
    """The smallest join and, if there are views, the smallest of them, at a tenth of its length."""
    for is_view in (False, True):
        mine = [each for each in workloads if (each.every is not None) == is_view]
        if mine:
            least = min(mine, key=lambda workload: workload.tuples)
            yield least.lasting(least.seconds / 10) if is_view else least


def _exact(workload: Workload) -> Problem:
    query = workload.query()
    return Problem(query, complete(query, workload.statistics()))


def _measured(workload: Workload, times: int) -> Iterator[MeasuredRun]:
    problem = _exact(workload)
    tuples = read_all(problem.query)
    for plan in plans_for(problem):
        if needed_by(problem, plan) * workload.seconds < _LONGEST:
            yield MeasuredRun(problem, plan, workload.seconds, least(plan, tuples, times))
