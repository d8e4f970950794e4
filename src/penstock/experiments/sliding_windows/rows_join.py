"""Joins over ROWS windows, and the most that every tree of them yields as resources end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from penstock.experiments.setting.problems import problem_of, query_of
from penstock.optimize.joins.enumerate import all_trees, left_deep_trees
from penstock.optimize.joins.heuristic import heuristic_tree
from penstock.optimize.model.load import load_of
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.work import output_of
from penstock.optimize.shedding.fractions import best_drops
from penstock.plan.tree import Node, TreeJoin, branches, leaves
from penstock.query import Query
from penstock.stats.costs import Costs

Floats = NDArray[np.float64]
Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class RowsJoin:
    """Tuples/s and tuples in the windows of streams, and the selectivities of joined pairs.

    A tuple costs one at each join, so that capacities are tuples/s. The exhaustive optimizer goes
    over left-deep trees, or over all; products are among both.
    """

    rates: Floats
    windows: Floats
    selectivity: Mapping[tuple[int, int], float]
    is_bushy: bool = False

    @property
    def size(self) -> int:
        return len(self.rates)

    @property
    def saturation(self) -> float:
        """Tuples/s that the plan of least utilization handles."""
        return float(self.loads.sum(axis=1).min())

    def best(self, level: float) -> float:
        """Results/s of the best plan at a part of the saturation resources."""
        return float(self._outputs(level).max())

    def gain(self, level: float) -> float:
        """By how much the best plan's output exceeds that of the plan of least utilization."""
        outputs = self._outputs(level)
        least_used = outputs[self.loads.sum(axis=1).argmin()]
        return max(0.0, float(outputs.max() / least_used) - 1.0)

    def error(self, level: float) -> float:
        """How far the plan of the heuristic optimizer falls short of the best (A&N §6.3)."""
        problem = self.problem(level * self.saturation)
        return max(0.0, 1.0 - shed_output(problem, heuristic_tree(problem)) / self.best(level))

    @cached_property
    def loads(self) -> Floats:
        """By plan and stream: tuples/s that the stream brings to joins (A&N Eq. 19)."""
        inner = inner_sets(self.size, self.is_bushy)
        loads: Floats = self.rates * (1.0 + inner @ self._partners)
        return loads

    @cached_property
    def _partners(self) -> Floats:
        """By set and stream: combinations of the set for each tuple of a stream in it."""
        found = np.zeros((1 << self.size, self.size))
        for mask in range(1 << self.size):
            members = [i for i in range(self.size) if mask >> i & 1]
            pairs = ((a, b) for a in members for b in members)
            fraction = prod(self.selectivity.get(pair, 1.0) for pair in pairs)
            for k in members:
                found[mask, k] = fraction * prod(self.windows[i] for i in members if i != k)
        return found

    def _outputs(self, level: float) -> Floats:
        yields = self.rates * self._partners[-1]
        return knapsacks(self.loads, yields, level * self.saturation)

    def problem(self, capacity: float) -> Problem:
        """The join for the planner."""
        names = _names(self.size)
        return problem_of(
            _query(tuple(int(window) for window in self.windows), tuple(self.selectivity)),
            dict(zip(names, self.rates.tolist(), strict=True)),
            {f"{names[a]} {names[b]}": value for (a, b), value in self.selectivity.items()},
            Costs("declared", join=1.0),
            capacity=capacity,
        )


def shed_output(problem: Problem, tree: Node | None) -> float:
    """The most results/s of a tree where streams may be shed to nothing."""
    assert tree is not None, "without floors every plan can be shed"
    load = load_of(problem, TreeJoin(problem.query, tree))
    free = (0.0,) * problem.size
    kept = best_drops(load, output_of(problem), free, problem.known.capacity.value)
    assert kept is not None, "without floors every plan can be shed"
    return kept.output


def knapsacks(loads: Floats, yields: Floats, capacity: float) -> Floats:
    """The most output of each plan: streams filled in by output per load (A&N §4.2.1)."""
    order = np.argsort(-yields / loads, axis=1)
    in_order = np.take_along_axis(loads, order, axis=1)
    before = np.cumsum(in_order, axis=1) - in_order
    kept = np.clip((capacity - before) / in_order, 0.0, 1.0)
    outputs: Floats = (kept * yields[order]).sum(axis=1)
    return outputs


@cache
def inner_sets(size: int, is_bushy: bool) -> Floats:
    """By tree and set of inputs: 1 where the tree has the set as an inner result."""
    chain = {(i, i + 1): 1.0 for i in range(size - 1)}
    problem = RowsJoin(np.ones(size), np.ones(size), chain).problem(1.0)
    trees: Callable[[Problem], Iterator[Node]] = all_trees if is_bushy else left_deep_trees
    found = [
        [problem.mask(leaves(branch)) for branch in branches(tree) if branch is not tree]
        for tree in trees(problem)
    ]
    sets = np.zeros((len(found), 1 << size))
    for row, masks in enumerate(found):
        sets[row, masks] = 1.0
    return sets


def drawn_joins(size: int, count: int, seed: int = 2004) -> Iterator[RowsJoin]:
    """Random joins within the figures of Table 2, over all trees; any tree of streams is joined."""
    draw = np.random.default_rng([seed, size])
    for _ in range(count):
        pairs = [(int(draw.integers(i)), i) for i in range(1, size)]
        yield RowsJoin(
            rates=draw.uniform(10.0, 1000.0, size),
            windows=draw.integers(100, 1001, size).astype(np.float64),
            selectivity={pair: 10 ** draw.uniform(-3.0, -0.3) for pair in pairs},
            is_bushy=True,
        )


def left_deep(join: RowsJoin) -> RowsJoin:
    """The same join, over left-deep trees."""
    return replace(join, is_bushy=False)


def _names(size: int) -> list[str]:
    return [chr(ord("A") + i) for i in range(size)]


@cache
def _query(windows: tuple[int, ...], pairs: Pairs) -> Query:
    names = _names(len(windows))
    sources = ", ".join(f"{n} [ROWS {w}]" for n, w in zip(names, windows, strict=True))
    equal = [f"{names[a]}.{names[b].lower()} = {names[b]}.{names[a].lower()}" for a, b in pairs]
    columns = {
        name: " ".join(names[b if a == i else a].lower() for a, b in pairs if i in (a, b))
        for i, name in enumerate(names)
    }
    return query_of(
        f"SELECT A.{columns['A'].split()[0]} FROM {sources} WHERE {' AND '.join(equal)}", columns
    )
