"""A&N's experiment (Table 2, Figures 7, 8 and 10): which plan to shed from, and finding it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from penstock.experiments.sliding_windows.resources import SAME
from penstock.experiments.sliding_windows.rows_join import drawn_joins, left_deep, shed_output
from penstock.experiments.sliding_windows.table_2 import LEVELS, drawn
from penstock.optimize.algebra.posynomial import value
from penstock.optimize.joins.enumerate import all_trees, left_deep_trees
from penstock.optimize.joins.heuristic import heuristic_tree
from penstock.optimize.joins.tree_search import TreeSearch
from penstock.optimize.model.load import load_of
from penstock.optimize.model.problem import Problem
from penstock.plan.tree import TreeJoin, is_left_deep, leaves
from penstock.stats.costs import Costs
from support.plans.planning import example_1, problem_of, query_of


@dataclass(frozen=True)
class Found:
    """By resource level: share of queries with another best plan, mean gain, heuristic's error."""

    changed: dict[float, float]
    gain: dict[float, float]
    error: dict[float, float]


def run_table_2(queries: int, asked: int) -> Found:
    """The experiment over random queries; the heuristic is asked about the first of them."""
    changed: dict[float, list[Any]] = {level: [] for level in LEVELS}
    gain: dict[float, list[Any]] = {level: [] for level in LEVELS}
    error: dict[float, list[float]] = {level: [] for level in LEVELS}
    for number, query in enumerate(drawn(queries)):
        for level in LEVELS:
            gain[level].append(query.gain(level))
            changed[level].append(gain[level][-1] > SAME)
            if number < asked:
                error[level].append(query.error(level))
    means = [{k: float(np.mean(v)) for k, v in d.items() if v} for d in (changed, gain, error)]
    return Found(*means)


@pytest.fixture(scope="module")
def found() -> Found:
    """1000 queries as in the paper; the heuristic on the first 50 of them."""
    return run_table_2(queries=1000, asked=50)


def test_the_less_there_is_the_more_queries_need_another_plan(found: Found) -> None:
    changed = found.changed
    assert changed[1.0] == 0.0
    assert all(changed[a] <= changed[b] for a, b in pairwise(LEVELS))
    assert changed[0.6] < 0.5 < changed[0.5]
    assert min(changed[0.2], changed[0.1], changed[0.01]) > 0.9


def test_the_gain_of_the_other_plan_grows(found: Found) -> None:
    assert found.gain[1.0] == 0.0
    assert found.gain[0.6] == pytest.approx(0.04, abs=0.015)
    assert found.gain[0.1] == pytest.approx(2.0, abs=0.5)
    assert found.gain[0.01] == pytest.approx(7.0, abs=1.0)


def test_the_heuristic_is_all_but_exact(found: Found) -> None:
    """Below 0.2 % of the best at every level over the 1000 queries; 50 of them scatter a little."""
    errors = [error for level, error in found.error.items() if level > 0.01]
    assert min(errors) >= -1e-9
    assert np.mean(errors) <= 0.002
    assert max(errors) <= 0.004


@pytest.mark.parametrize("window", ["ROWS 10", "RANGE 1 SECOND"])
@pytest.mark.parametrize("milliseconds", [0.5, 3.0, 4.0, 4.5, 14.0, 17.0])
def test_three_streams_are_always_joined_best(window: str, milliseconds: float) -> None:
    problem = example_1(milliseconds / 1000, window)
    tree = heuristic_tree(problem)
    outputs = [shed_output(problem, other) for other in all_trees(problem)]
    assert shed_output(problem, tree) == pytest.approx(max(outputs), rel=1e-6)


def chain(size: int, window: str, capacity: float) -> Problem:
    """A chain of joins over streams of very different rates."""
    names = [f"S{i}" for i in range(size)]
    query = query_of(
        f"SELECT S0.b FROM {', '.join(f'{name} [{window}]' for name in names)} WHERE "
        + " AND ".join(f"{a}.b = {b}.a" for a, b in pairwise(names)),
        dict.fromkeys(names, "a b"),
    )
    rates = {name: 10.0 * 3 ** (7 * i % 5) for i, name in enumerate(names)}
    selectivity = {f"{a} {b}": 0.02 / (1 + i % 3) for i, (a, b) in enumerate(pairwise(names))}
    return problem_of(query, rates, selectivity, Costs("declared", join=1e-3), capacity=capacity)


def test_it_is_the_least_used_left_deep_tree_where_that_is_feasible() -> None:
    problem = chain(5, "ROWS 50", 1e9)
    ones = (1.0,) * 5
    loads = [
        value(load_of(problem, TreeJoin(problem.query, tree)), ones)
        for tree in left_deep_trees(problem)
    ]
    found = heuristic_tree(problem)
    assert found is not None
    load = value(load_of(problem, TreeJoin(problem.query, found)), ones)
    assert load == pytest.approx(min(loads))


@pytest.mark.parametrize("window", ["ROWS 50", "RANGE 1 SECOND"])
def test_many_inputs_are_searched_too(window: str) -> None:
    problem = chain(8, window, 0.5)
    tree = heuristic_tree(problem)
    assert tree is not None
    assert is_left_deep(tree)
    least_work = TreeSearch(problem, is_bushy=False).best()
    assert shed_output(problem, tree) >= shed_output(problem, least_work) * (1 - 1e-6)


@pytest.mark.parametrize("is_bushy", [False, True])
@pytest.mark.parametrize("window", ["ROWS 50", "RANGE 1 SECOND"])
def test_any_number_of_inputs_is_within_the_budget(window: str, is_bushy: bool) -> None:
    problem = chain(16, window, 0.5)
    tree = heuristic_tree(problem, is_bushy=is_bushy)
    assert tree is not None
    assert sorted(leaves(tree)) == sorted(problem.query.aliases)
    assert problem.effort.evaluations < problem.effort.most / 2


def test_bushy_trees_are_found_where_they_are_better() -> None:
    join = next(join for join in drawn_joins(5, 20) if left_deep(join).best(0.5) < join.best(0.4))
    problem = join.problem(0.5 * join.saturation)
    found = shed_output(problem, heuristic_tree(problem, is_bushy=True))
    assert found > 1.01 * shed_output(problem, heuristic_tree(problem))
    assert found >= 0.99 * join.best(0.5)


def test_nothing_is_found_where_the_floors_are_too_much() -> None:
    known = replace(example_1(1.0).known, rows_warmup=0.1)
    assert heuristic_tree(Problem(known.query, known)) is None
