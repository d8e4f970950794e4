"""Workloads and plans that tell the kinds of costs apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from penstock.calibration.workload import MadeStream, Workload
from penstock.optimize.joins.enumerate import all_trees
from penstock.optimize.joins.physical import with_methods
from penstock.optimize.joins.probe_search import best_orders
from penstock.optimize.model.problem import Problem
from penstock.optimize.views.early import early_sets
from penstock.plan.default_plan import default_plan
from penstock.plan.plan import Plan
from penstock.plan.tree import TreeJoin, branches
from penstock.stats.costs import Costs

# Tuples in a window, and how many values the keys a, b, c have that the streams share. Two streams
# and three on one key, chains and stars; narrow and wide windows, few and many matches.
_ONE_KEY = (
    (2, 3, 50), (2, 3, 4), (2, 10, 100), (2, 10, 5), (2, 100, 1000), (2, 100, 30),
    (2, 1000, 10_000), (2, 1000, 300), (3, 3, 10), (3, 10, 50), (3, 10, 5), (3, 30, 100),
    (3, 100, 300), (3, 100, 50), (3, 1000, 1000), (4, 30, 40),
)  # fmt: skip
_CHAINS = ((10, 10, 50), (50, 50, 10), (100, 300, 30), (300, 300, 300))
_STARS = ((10, 20, 5, 50), (50, 200, 30, 50))
_RATES = (1000.0, 500.0, 300.0, 700.0)
_NAMES = "ABCD"

# Streams last so many times as long as windows take to fill, so that these are full nearly always.
_FILLINGS, _BATCHED_FILLINGS = 20, 4
# Batches need faster streams to be worth their start.
_FASTER = 100
_TREES = 6
# Windows of so many tuples may as well be looked at as a whole.
_SMALL = 50


def designed(tuples: int) -> Iterator[Workload]:
    """The workloads, each of about so many tuples."""
    for count, size, values in _ONE_KEY:
        yield _sized([{"a": values}] * count, size, tuples)
    for size, a, b in _CHAINS:
        yield _sized([{"a": a}, {"a": a, "b": b}, {"b": b}], size, tuples)
    for size, a, b, c in _STARS:
        yield _sized([{"a": a, "b": b, "c": c}, {"a": a}, {"b": b}, {"c": c}], size, tuples)


def batched(tuples: int, batches: int) -> Iterator[Workload]:
    """Fewer workloads for batches: few matches and many, of which some are partial results only.

    The last is small, so that the start of batches shows.
    """
    made = (
        _joined([{"a": 100}] * 2, 10, tuples),
        _joined([{"a": 5}] * 2, 50, tuples),
        _joined([{"a": 15}] * 3, 50, tuples),
        _joined([{"a": 5}, {"a": 5, "b": 500}, {"b": 500}], 50, tuples),
        _joined([{"a": 200}, {"a": 200, "b": 30}, {"b": 30}], 20, tuples // 10),
    )
    yield from (replace(workload, batches=batches) for workload in made)


def viewed(tuples: int, batches: int) -> Iterator[Workload]:
    """Views for batches: tuples that find hardly a partner and do not fold, some, and many.

    Ticks are so short against the windows that most pairs of tuples are seen together.
    """
    made = (
        _grouped(_joined([{"a": 100}] * 2, 10, tuples), groups=1, ticks=10),
        _grouped(_joined([{"a": 5}] * 2, 50, tuples), groups=3, ticks=10),
        _grouped(_joined([{"a": 1}] * 2, 50, tuples // 2), groups=3, ticks=2),
    )
    yield from (replace(workload, batches=batches) for workload in made)


def viewed_on_spark(tuples: int, batches: int) -> Iterator[Workload]:
    """Two of the views, as each run takes seconds: hardly a match, and so many that they tell what
    tallying takes, or, folded, what folding does."""
    few, _, many = viewed(tuples, batches)
    yield from (few, many)


def spark_plans(problem: Problem, trees: int = 2) -> Iterator[Plan]:
    """The plans of `batch_plans`; of a view the late one, the one that folds all that comes, and
    the one that recomputes it of that in each batch."""
    if problem.query.view is None:
        yield from batch_plans(problem, trees)
        return
    late = default_plan(problem.query)
    folded = replace(late, early=problem.query.aliases)
    yield from (late, folded, replace(folded, recompute=problem.query.aliases[0]))


def batch_plans(problem: Problem, trees: int = 2) -> Iterator[Plan]:
    """Up to two trees without products, and multi-way joins; of a view the late and early plans."""
    if problem.query.view is not None:
        late = default_plan(problem.query)
        yield from (replace(late, early=early) for early in early_sets(problem))
        return
    linked = (t for t in all_trees(problem) if all(b.method != "nested" for b in branches(t)))
    # Of the chains the second tree has the most inner results.
    yield from (TreeJoin(problem.query, tree) for tree in tuple(islice(linked, 2))[-trees:])
    yield default_plan(problem.query)


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


def _joined(keys: Sequence[dict[str, int]], size: int, tuples: int) -> Workload:
    made = _sized(keys, size, tuples).scaled(_FASTER)
    filled = _BATCHED_FILLINGS * max(stream.filling for stream in made.streams)
    seconds = max(tuples * made.seconds / made.tuples, filled)
    return made.lasting(seconds)


def _grouped(made: Workload, groups: int, ticks: int) -> Workload:
    """The same as a view, evaluated so many times in the first window."""
    streams = tuple(replace(stream, groups=groups) for stream in made.streams)
    return replace(made, streams=streams, every=streams[0].extent / ticks)
