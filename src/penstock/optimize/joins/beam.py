"""Beam search for join trees and probe orders of many inputs: only the best sets of a size grow.

The searches that weigh all sets (`tree_search`, `probe_search`) double their work with every input.
Here it grows with the cube of the inputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.optimize.joins.enumerate import is_joinable, joined
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.work import (
    arrival_seconds,
    candidate_seconds,
    handling_seconds,
    keep_seconds,
    probe_key,
    visit_seconds,
)
from penstock.plan.multiway import MultiwayJoin, Probe, ProbeOrder
from penstock.plan.tree import Leaf, Node

SETS = 12
"""Sets of one size whose best trees are grown."""
WAYS = 6
"""Ways to sets of one size that are gone on with, of each driver."""


@dataclass(frozen=True)
class _Grown:
    """A tree of a set of inputs and its work; `promise` adds what its results take at a join."""

    mask: int
    tree: Node
    work: float
    promise: float


def promising_tree(problem: Problem, is_bushy: bool, with_products: bool) -> Node | None:
    """A join tree of little work; None if none is found without products, and these not wanted."""
    search = _Trees(problem, with_products)
    singles = [_Grown(1 << i, Leaf(flow.alias), 0.0, 0.0) for i, flow in enumerate(problem.inputs)]
    levels: list[list[_Grown]] = [[], singles]
    for size in range(2, problem.size + 1):
        best: dict[int, _Grown] = {}
        for part in range(1, (size // 2 if is_bushy else 1) + 1):
            for grown in search.pairs(levels[size - part], levels[part], best):
                best[grown.mask] = grown
        levels.append(sorted(best.values(), key=lambda each: (each.promise, each.mask))[:SETS])
    return levels[-1][0].tree if levels[-1] else None


@dataclass(frozen=True)
class _Trees:
    problem: Problem
    with_products: bool

    def pairs(
        self, larger: list[_Grown], smaller: list[_Grown], best: dict[int, _Grown]
    ) -> Iterator[_Grown]:
        """The joins of two sets that are better than what is there of both together."""
        problem = self.problem
        for one in larger:
            for other in smaller:
                mask = one.mask | other.mask
                if one.mask & other.mask or not is_joinable(problem, mask):
                    continue
                if not self.with_products and not _is_linked(problem, one.mask, other.mask):
                    continue
                problem.effort.parts += 1
                work = one.work + other.work + _join_work(problem, one.mask, other.mask)
                if mask not in best or work < best[mask].work:
                    arriving = float(problem.rates[mask]) * arrival_seconds(problem, "sorted")
                    tree = joined(problem, one.tree, other.tree)
                    yield _Grown(mask, tree, work, work + arriving)


def _is_linked(problem: Problem, one: int, other: int) -> bool:
    both = one | other
    return problem.linked(one, other) or any(
        mask & one and mask & other and mask & both == mask for mask, _ in problem.theta_masks
    )


def _join_work(problem: Problem, left: int, right: int) -> float:
    """Seconds of work a second of a join of two sets, as `load_of` counts it."""
    key = problem.shared_key(left, right)
    arrival = arrival_seconds(problem, "nested" if key is None else "sorted")
    arrival += handling_seconds(problem, left, right)
    work = 0.0
    for mine, other in ((left, right), (right, left)):
        each = arrival + keep_seconds(problem, mine) + problem.sides.arrival(mine, other)
        work += float(problem.rates[mine]) * each
        meeting = problem.combinations_rate(mine) * float(problem.window_products[other])
        work += meeting * candidate_seconds(problem, mine, other, key)
    return work


@dataclass(frozen=True)
class _Way:
    """Targets visited so far, where the partial results are, and the work."""

    mask: int
    here: int | None
    targets: tuple[int, ...]
    work: float
    promise: float


def promising_orders(problem: Problem) -> MultiwayJoin:
    """Every stream's probe order of little work."""
    orders = (
        _order(problem, driver) for driver, flow in enumerate(problem.inputs) if not flow.is_table
    )
    return MultiwayJoin(problem.query, tuple(orders))


def _order(problem: Problem, driver: int) -> ProbeOrder:
    ways = [_Way(1 << driver, None, (), 0.0, 0.0)]
    for _ in range(problem.size - 1):
        best: dict[tuple[int, int | None], _Way] = {}
        for way in ways:
            for after in _visited(problem, driver, way):
                state = (after.mask, after.here)
                if state not in best or after.work < best[state].work:
                    best[state] = after
        ways = sorted(best.values(), key=lambda way: (way.promise, way.targets))[:WAYS]
    return _as_order(problem, driver, ways[0].targets)


def _visited(problem: Problem, driver: int, way: _Way) -> Iterator[_Way]:
    """The way with one more visit, to each input that is left."""
    costs, rate = problem.known.costs, problem.inputs[driver].rate
    raw = rate * float(problem.window_products[way.mask ^ 1 << driver])
    partials = raw * problem.fraction(way.mask)
    for target in range(problem.size):
        bit = 1 << target
        if way.mask & bit:
            continue
        problem.effort.parts += 1
        key = probe_key(problem, way.mask, bit, way.here)
        visit = visit_seconds(problem, "nested" if key is None else "sorted")
        if costs.join is None and way.targets and (key is None or key != way.here):
            visit += costs.move
        visit += handling_seconds(problem, way.mask, bit) + problem.sides.probe.get(bit, 0.0)
        window = problem.inputs[target].window
        found = raw * window * candidate_seconds(problem, way.mask, bit, key)
        work = way.work + partials * visit + found
        left = raw * window * problem.fraction(way.mask | bit)
        promise = work + left * visit_seconds(problem, "sorted")
        yield _Way(way.mask | bit, key, (*way.targets, target), work, promise)


def _as_order(problem: Problem, driver: int, targets: tuple[int, ...]) -> ProbeOrder:
    aliases, bound, probes = problem.query.aliases, 1 << driver, []
    for target in targets:
        is_keyed = problem.linked(bound, 1 << target)
        probes.append(Probe(aliases[target], "sorted" if is_keyed else "nested"))
        bound |= 1 << target
    return ProbeOrder(aliases[driver], tuple(probes))
