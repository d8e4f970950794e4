"""This machine's costs for one tuple, measured on workloads of which everything is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from penstock.engine.local.experiment import read_all
from penstock.monitor.fit import WINDOW, Fit, Run, Unit, fit
from penstock.monitor.timing import least
from penstock.monitor.workload import MadeStream, Workload
from penstock.optimize.enumerate import all_trees
from penstock.optimize.estimate import needed_by
from penstock.optimize.physical import with_methods
from penstock.optimize.probe_search import best_orders
from penstock.optimize.problem import Problem
from penstock.plan.choose import default_plan
from penstock.plan.plan import Plan
from penstock.plan.tree import TreeJoin
from penstock.stats.costs import Costs
from penstock.stats.guess import complete

Progress = Callable[[int, int], None]
"""Is told how many workloads are done, and of how many."""

LABORATORY: tuple[Unit, ...] = (
    WINDOW,
    *({kind: 1.0} for kind in ("arrive", "hash", "probe", "compare", "result", "keep", "search")),
)
"""What is fitted for the laboratory. Nothing moves there, and there are no batches."""

# Tuples in a window, and how many values the keys a, b, c have that the streams share. Two streams
# and three on one key, chains and stars; narrow and wide windows, few and many matches.
_ONE_KEY = (
    (2, 3, 50), (2, 3, 4), (3, 3, 10), (2, 10, 100), (2, 10, 5), (2, 100, 1000), (2, 100, 30), (2, 1000, 10_000), (2, 1000, 300),
    (3, 10, 50), (3, 10, 5), (3, 30, 100), (3, 100, 300), (3, 100, 50), (3, 1000, 1000), (4, 30, 40),
)  # fmt: skip
_CHAINS = ((10, 10, 50), (50, 50, 10), (100, 300, 30), (300, 300, 300))
_STARS = ((10, 20, 5, 50), (50, 200, 30, 50))
_RATES = (1000.0, 500.0, 300.0, 700.0)
_NAMES = "ABCD"

# Of a size that the clock resolves well, and long enough for windows to be full nearly always.
_TUPLES, _QUICK_TUPLES = 60_000, 15_000
_FILLINGS = 20
_TREES = 6
# Windows of so many tuples may as well be looked at as a whole.
_SMALL = 50
# A plan of products can take hundreds of times as long as the others; it would tell nothing new.
_LONGEST = 0.5
_TIMES, _QUICK_TIMES = 4, 2


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


def designed(tuples: int) -> Iterator[Workload]:
    """The workloads, each of about so many tuples."""
    for count, size, values in _ONE_KEY:
        yield _sized([{"a": values}] * count, size, tuples)
    for size, a, b in _CHAINS:
        yield _sized([{"a": a}, {"a": a, "b": b}, {"b": b}], size, tuples)
    for size, a, b, c in _STARS:
        yield _sized([{"a": a, "b": b, "c": c}, {"a": a}, {"b": b}, {"c": c}], size, tuples)


def plans_for(problem: Problem) -> Iterator[Plan]:
    """Trees with and without products, and multi-way joins, by hash and by nested loops."""
    trees = [TreeJoin(problem.query, tree) for tree in islice(all_trees(problem), _TREES)]
    yield from trees
    yield default_plan(problem.query)
    if problem.size > 2:
        yield best_orders(problem)
    if max(flow.window for flow in problem.inputs) <= _SMALL:
        # As if hashing were all that cost anything: then no search is hashed.
        costly = replace(problem.known, costs=Costs("measured", hash=1.0))
        for plan in (trees[0], default_plan(problem.query)):
            yield with_methods(Problem(problem.query, costly), plan)


def _sized(keys: Sequence[dict[str, int]], size: int, tuples: int) -> Workload:
    streams = tuple(
        MadeStream(name, rate, own, extent=size / rate)
        for name, rate, own in zip(_NAMES, _RATES, keys, strict=False)
    )
    whole = Workload(streams, seconds=1.0)
    filled = _FILLINGS * max(stream.filling for stream in streams)
    return whole.lasting(max(tuples / whole.tuples, filled))


def _measured(workload: Workload, times: int) -> Iterator[Run]:
    query = workload.query()
    problem = Problem(query, complete(query, workload.statistics()))
    tuples = read_all(query)
    for plan in plans_for(problem):
        if needed_by(problem, plan) * workload.seconds < _LONGEST:
            yield Run(problem, plan, workload.seconds, least(plan, tuples, times))
