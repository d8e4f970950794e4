"""This machine's costs for one tuple, measured on workloads of which everything is known.

A session on Spark has few runs, because each takes seconds; the laboratory has many.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from penstock.engine.local.experiment import read_all
from penstock.monitor.batch_runs import RunPlan, run_in_process, spark_runs
from penstock.monitor.designed import batch_plans, batched, designed, plans_for, viewed
from penstock.monitor.fit import WINDOW, Fit, Run, Unit, fit
from penstock.monitor.timing import least
from penstock.monitor.workload import Workload
from penstock.optimize.estimate import needed_by
from penstock.optimize.problem import Problem
from penstock.stats.calibration import Engine
from penstock.stats.guess import complete

Progress = Callable[[int, int], None]
"""Is told how many workloads are done, and of how many."""

LABORATORY: tuple[Unit, ...] = (
    WINDOW,
    *({kind: 1.0} for kind in ("arrive", "hash", "probe", "compare", "result", "keep", "search")),
)
"""What is fitted for the laboratory. Nothing moves there, and there are no batches."""

BATCHES: tuple[Unit, ...] = (
    WINDOW,
    *(
        {kind: 1.0}
        for kind in ("arrive", "probe", "compare", "result", "keep", "move", "batch", "round")
    ),
    {"fold": 1.0},
    {"tally": 1.0},
)
"""What is fitted for batches. Keys are hashed once, as tuples arrive."""

_JOINING = ("insert", "expire", "probe", "compare", "keep", "fold", "tally")

_SPARK_ONLY = ("arrive", "result", "move", "batch", "round")
"""What Spark adds to joining in batches."""

# Of a size that the clock resolves well.
_TUPLES, _QUICK_TUPLES = 60_000, 15_000
_TIMES, _QUICK_TIMES = 4, 2
# A plan of products can take hundreds of times as long as the others; it would tell nothing new.
_LONGEST = 0.5
# Batches need more tuples than that to show what a tuple costs.
_BATCHED, _QUICK_BATCHED = 300_000, 60_000
_BATCHED_TIMES = 2


def calibrate(engine: Engine, quick: bool, progress: Progress) -> Fit:
    """The costs of one engine; on Spark they are seconds of all its cores together."""
    match engine:
        case "laboratory":
            return calibrate_laboratory(progress, quick)
        case "local":
            return calibrate_batches(run_in_process, progress, quick)
        case "spark":
            return calibrate_spark(progress, quick)


def calibrate_spark(progress: Progress, quick: bool) -> Fit:
    """The costs of joining in batches on Spark, in seconds of the whole session.

    A session has too few runs to tell searching, comparing, keeping and folding apart. They are
    done by the same code as in one process, so that their proportions are taken from there; and all
    cores together cannot do them faster than that many times. So no views are run on Spark.
    """
    here = calibrate_batches(run_in_process, _ignored, quick).costs
    joining = {kind: getattr(here, kind) for kind in _JOINING}
    units = (joining, *({kind: 1.0} for kind in _SPARK_ONLY))
    with spark_runs() as run:
        runs = tuple(_batch_runs(batched(_tuples(quick)), run, progress))
    cores = len(os.sched_getaffinity(0))
    return fit(runs, units, least=(1 / cores, *(0.0 for _ in _SPARK_ONLY)))


def calibrate_batches(run: RunPlan, progress: Progress, quick: bool) -> Fit:
    """The costs of joining and aggregating in batches."""
    workloads = (*batched(_tuples(quick)), *viewed(_tuples(quick)))
    return fit(tuple(_batch_runs(workloads, run, progress)), BATCHES)


def _tuples(quick: bool) -> int:
    return _QUICK_BATCHED if quick else _BATCHED


def _batch_runs(made: Iterable[Workload], run: RunPlan, progress: Progress) -> Iterator[Run]:
    workloads = tuple(made)
    for number, workload in enumerate(workloads):
        progress(number, len(workloads))
        problem = _exact(workload)
        plans = tuple(batch_plans(problem))
        if number == 0:
            # The first run waits for workers to start and for code to be compiled.
            run(plans[0])
        for plan in plans:
            found = min((run(plan) for _ in range(_BATCHED_TIMES)), key=lambda r: r.seconds)
            spent = (workload.seconds, found.seconds)
            yield Run(problem, plan, *spent, found.batches, found.rounds)
    progress(len(workloads), len(workloads))


def _ignored(done: int, of: int) -> None:
    """Tell nobody."""


def calibrate_laboratory(progress: Progress, quick: bool = False) -> Fit:
    """The costs of joining tuple by tuple in one process, in CPU-seconds."""
    tuples, times = (_QUICK_TUPLES, _QUICK_TIMES) if quick else (_TUPLES, _TIMES)
    runs: list[Run] = []
    workloads = tuple(designed(tuples))
    for number, workload in enumerate(workloads):
        progress(number, len(workloads))
        runs += _measured(workload, times)
    progress(len(workloads), len(workloads))
    return fit(runs, LABORATORY)


def _exact(workload: Workload) -> Problem:
    query = workload.query()
    return Problem(query, complete(query, workload.statistics()))


def _measured(workload: Workload, times: int) -> Iterator[Run]:
    problem = _exact(workload)
    tuples = read_all(problem.query)
    for plan in plans_for(problem):
        if needed_by(problem, plan) * workload.seconds < _LONGEST:
            yield Run(problem, plan, workload.seconds, least(plan, tuples, times))
