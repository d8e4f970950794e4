"""A&N's rates, windows and utilization against Example 1 and Observation 1."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from penstock.papers.sliding_windows import (
    Flow,
    SideCosts,
    asymmetric_join_cost,
    is_feasible,
    join,
    join_all,
    join_cost,
    project,
    select,
    selection_cost,
    time_window,
    tuple_window,
    utilization,
)

A, B, C = (tuple_window(rate, 10) for rate in (10, 70, 20))


def handled(
    first: Flow, second: Flow, inner: float, third: Flow, outer: float
) -> tuple[float, float]:
    """Tuples/s that the two joins of a tree take in, and its output rate."""
    pairs = join(first, second, inner)
    taken = join_cost(first, second, 1.0) + join_cost(pairs, third, 1.0)
    return taken, join(pairs, third, outer).rate


def test_example_1() -> None:
    trees = {
        "(A B) C": handled(A, B, 0.5, C, 0.2),
        "(B C) A": handled(B, C, 0.2, A, 0.5),
        "(A C) B": handled(A, C, 1.0, B, 0.1),
    }
    assert {shape: taken for shape, (taken, _) in trees.items()} == pytest.approx(
        {"(A B) C": 500, "(B C) A": 280, "(A C) B": 400}
    )
    assert [output for _, output in trees.values()] == pytest.approx([1000] * 3)
    used = [taken * 0.0005 for taken, _ in trees.values()]
    assert used == pytest.approx([0.25, 0.14, 0.20])
    assert [is_feasible(taken * 0.003) for taken, _ in trees.values()] == [False, True, False]


def test_time_windows_hold_what_arrives_in_their_time() -> None:
    assert time_window(70, 2) == Flow(70, 140)
    assert join(time_window(10, 2), time_window(5, 4), 0.1).rate == pytest.approx(0.1 * (200 + 100))


def test_selections_thin_rate_and_window() -> None:
    assert select(Flow(100, 40), 0.25) == Flow(25, 10)
    assert project(Flow(100, 40)) == Flow(100, 40)


def test_two_selections_of_the_introduction() -> None:
    """A&N §1: 0.5 ms with 0.25 and 1 ms with 0.5, at 1000/s: 75 % one way, 125 % the other."""
    stream = Flow(1000, 1)
    plan_a = [selection_cost(stream, 0.0005), selection_cost(select(stream, 0.25), 0.001)]
    plan_b = [selection_cost(stream, 0.001), selection_cost(select(stream, 0.5), 0.0005)]
    assert utilization(plan_a) == pytest.approx(0.75)
    assert utilization(plan_b) == pytest.approx(1.25)


def test_equal_sides_cost_the_same_by_both_equations() -> None:
    side = SideCosts(probe=0.003, insert=0.002, invalidate=0.001)
    both = asymmetric_join_cost(A, B, side, side)
    assert both == pytest.approx(join_cost(A, B, side.total))


def test_each_side_pays_for_its_own_window() -> None:
    left = SideCosts(probe=1, insert=10, invalidate=100)
    right = SideCosts(probe=1_000, insert=10_000, invalidate=100_000)
    cost = asymmetric_join_cost(Flow(2, 0), Flow(3, 0), left, right)
    assert cost == 3 * 1 + 2 * 110 + 2 * 1_000 + 3 * 110_000


def trees(names: tuple[int, ...]) -> Iterator[object]:
    """All tree shapes over the given leaves, up to mirror images."""
    if len(names) == 1:
        yield names[0]
        return
    first, rest = names[0], names[1:]
    for chosen in range(2 ** len(rest) - 1):
        left = (first, *(n for i, n in enumerate(rest) if chosen >> i & 1))
        right = tuple(n for i, n in enumerate(rest) if not chosen >> i & 1)
        for one in trees(left):
            for other in trees(right):
                yield (one, other)


def members(tree: Any) -> set[int]:
    return {tree} if isinstance(tree, int) else set().union(*map(members, tree))


def flow_of(tree: Any, flows: list[Flow], factors: np.ndarray) -> Flow:
    if isinstance(tree, int):
        return flows[tree]
    left, right = tree
    selectivity = math.prod(factors[i, j] for i in members(left) for j in members(right))
    return join(flow_of(left, flows, factors), flow_of(right, flows, factors), selectivity)


@pytest.mark.parametrize("seed", range(5))
def test_all_trees_have_the_same_output_rate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    flows = [tuple_window(*rng.uniform(1, 100, 2)) for _ in range(3)]
    flows += [time_window(*rng.uniform(1, 20, 2)) for _ in range(2)]
    drawn = rng.uniform(0.01, 1, (5, 5))
    factors = np.triu(drawn, 1) + np.triu(drawn, 1).T
    whole = join_all(flows, math.prod(drawn[i, j] for i in range(5) for j in range(i + 1, 5)))
    found = [flow_of(tree, flows, factors) for tree in trees(tuple(range(5)))]
    assert len(found) == 105
    assert [flow.rate for flow in found] == pytest.approx([whole.rate] * 105)
    assert [flow.window for flow in found] == pytest.approx([whole.window] * 105)
