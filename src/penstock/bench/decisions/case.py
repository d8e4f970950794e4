"""One drawn query, ready to be tried: long enough to be measured, short enough to be run often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from random import Random

import pyarrow as pa

from penstock.bench.decisions.contenders import contenders
from penstock.bench.decisions.drawn import draw
from penstock.calibration.workload import Workload
from penstock.lab.experiment import read_all
from penstock.optimize.estimate import needed_by
from penstock.optimize.model.problem import Problem
from penstock.plan.plan import Plan
from penstock.sampling.analyze import analyze
from penstock.stats.costs import Costs
from penstock.stats.guess import complete

Tuples = Mapping[str, pa.Table]

BEST, WORST = 0.005, 1.5
"""CPU-seconds that the plans of a query should take: the best at least, the worst at most."""
_FAR = 2.0
"""A plan (of random orders, as a rule) that is so far beyond the worst is not run."""
_MOST_TUPLES, _MOST_RESULTS = 200_000, 1_000_000
_FILLINGS = 8
"""Windows are full for most of the time if the streams last so many times as long."""


@dataclass(frozen=True)
class Case:
    """A query with all that is asked of it: its tuples, its problem, and its plans by text."""

    workload: Workload
    problem: Problem
    tuples: Tuples
    plans: Mapping[str, Plan]


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
    # A ROWS window that is shed must still fill in a small part of the time that there is.
    known = replace(
        complete(query, analyze(query, seconds=inf), costs), rows_warmup=seconds / _FILLINGS
    )
    problem = Problem(query, known)
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
        _MOST_TUPLES / workload.tuples,
        _MOST_RESULTS / rate,
    )
    return least if least <= most else None
