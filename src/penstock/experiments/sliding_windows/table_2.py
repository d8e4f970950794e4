"""A&N Table 2: random five-way joins, and the most that left-deep plans yield as resources end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from math import prod

import numpy as np
from numpy.typing import NDArray

from penstock.experiments.setting.problems import problem_of, query_of
from penstock.optimize.joins.heuristic import heuristic_tree
from penstock.optimize.model.load import load_of
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.work import output_of
from penstock.optimize.shedding.fractions import best_drops
from penstock.plan.tree import TreeJoin
from penstock.query import Query
from penstock.stats.costs import Costs

Floats = NDArray[np.float64]

LEVELS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.01)
"""Parts of the saturation resources: what the best plan needs to keep up."""
WINDOWS = {"A": 100, "B": 300, "C": 500, "D": 400, "E": 1000}
SELECTIVITY = {"A B": 0.2, "A C": 0.5, "B D": 0.1, "D E": 0.001}
_ORDERS = [order for order in permutations(range(5)) if order[0] < order[1]]


@dataclass(frozen=True)
class Drawn:
    """A random query: rates in tuples/s, and by left-deep plan what each stream loads its joins."""

    rates: Floats
    loads: Floats

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
        problem = problem_for(self.rates, level * self.saturation)
        tree = heuristic_tree(problem)
        assert tree is not None, "without floors every plan can be shed"
        load = load_of(problem, TreeJoin(problem.query, tree))
        kept = best_drops(load, output_of(problem), (0.0,) * 5, problem.known.capacity.value)
        assert kept is not None
        return max(0.0, 1.0 - kept.output / self.best(level))

    def _outputs(self, level: float) -> Floats:
        windows = np.array(list(WINDOWS.values()), np.float64)
        yields = prod(SELECTIVITY.values()) * self.rates * windows.prod() / windows
        return knapsacks(self.loads, yields, level * self.saturation)


def drawn(count: int, seed: int = 2004) -> Iterator[Drawn]:
    """Random queries: rates of 10 to 1000 tuples/s, everything else as in Table 2."""
    draw = np.random.default_rng(seed)
    for _ in range(count):
        rates = draw.uniform(10.0, 1000.0, 5)
        yield Drawn(rates, _loads(rates))


def knapsacks(loads: Floats, yields: Floats, capacity: float) -> Floats:
    """The most output of each plan: streams filled in by output per load (A&N §4.2.1)."""
    order = np.argsort(-yields / loads, axis=1)
    in_order = np.take_along_axis(loads, order, axis=1)
    before = np.cumsum(in_order, axis=1) - in_order
    kept = np.clip((capacity - before) / in_order, 0.0, 1.0)
    outputs: Floats = (kept * yields[order]).sum(axis=1)
    return outputs


def _loads(rates: Floats) -> Floats:
    """By left-deep order and stream: tuples/s that the stream brings to joins (A&N Eq. 19)."""
    loads = np.tile(rates, (len(_ORDERS), 1))
    for row, order in enumerate(_ORDERS):
        for size in (2, 3, 4):
            for k in order[:size]:
                loads[row, k] += rates[k] * _partners(frozenset(order[:size]), k)
    return loads


@cache
def _partners(members: frozenset[int], k: int) -> float:
    """Inner results of the members for each tuple of one of them."""
    names = [list(WINDOWS)[i] for i in sorted(members)]
    fraction = prod(SELECTIVITY.get(f"{a} {b}", 1.0) for a in names for b in names)
    return fraction * prod(list(WINDOWS.values())[i] for i in members if i != k)


@cache
def _query() -> Query:
    sources = ", ".join(f"{name} [ROWS {window}]" for name, window in WINDOWS.items())
    return query_of(
        f"SELECT A.b FROM {sources} WHERE A.b = B.a AND A.c = C.a AND B.d = D.b AND D.e = E.d",
        {"A": "b c", "B": "a d", "C": "a", "D": "b e", "E": "d"},
    )


def problem_for(rates: Floats, capacity: float) -> Problem:
    """The query for the planner; a tuple costs one at each join, so that capacity is tuples/s."""
    by_name = dict(zip(WINDOWS, rates.tolist(), strict=True))
    costs = Costs("declared", join=1.0)
    return problem_of(_query(), by_name, SELECTIVITY, costs, capacity=capacity)
