"""A&N's exhaustive optimizer: no tree sheds to more, and the planner takes it up to six inputs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.figure import Figure
from penstock.optimize.algebra.posynomial import value
from penstock.optimize.estimate import needed_by
from penstock.optimize.joins.enumerate import all_trees
from penstock.optimize.joins.exhaustive import ExhaustiveSearch
from penstock.optimize.model.effort import Effort
from penstock.optimize.model.load import load_of
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.work import output_of
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.optimize.shedding.bound import output_bound
from penstock.optimize.shedding.fractions import best_drops
from penstock.optimize.shedding.keeping import best_fractions, floors
from penstock.plan.tree import Node, TreeJoin
from support.plans.planning import random_problem

TREES = frozenset({"tree"})


def scarce(problem: Problem, part: float) -> Problem:
    """The problem with a part of the capacity that its best tree needs."""
    least = min(needed_by(problem, TreeJoin(problem.query, tree)) for tree in all_trees(problem))
    return Problem(problem.query, replace(problem.known, capacity=Figure(part * least, "declared")))


def output(problem: Problem, tree: Node) -> float:
    """The most results/s of a tree that is shed."""
    fractions = best_fractions(problem, TreeJoin(problem.query, tree), 1e-6)
    return value(output_of(problem), fractions)


@pytest.mark.parametrize("seed", range(6))
def test_no_tree_yields_more(seed: int) -> None:
    problem = scarce(random_problem(seed, 4), (0.2, 0.6)[seed % 2])
    found = ExhaustiveSearch(problem).best()
    assert found is not None
    most = max(output(problem, tree) for tree in all_trees(problem))
    assert output(problem, found) == pytest.approx(most, rel=1e-3)


def test_where_nothing_need_be_shed_it_is_the_tree_of_least_work() -> None:
    problem = scarce(random_problem(1, 4), 1.5)
    found = ExhaustiveSearch(problem).best()
    assert found is not None
    needed = {
        tree: needed_by(problem, TreeJoin(problem.query, tree)) for tree in all_trees(problem)
    }
    assert needed[found] == pytest.approx(min(needed.values()))


@pytest.mark.parametrize("seed", range(4))
def test_a_bound_is_never_below_what_a_tree_yields(seed: int) -> None:
    problem = scarce(random_problem(seed, 4), 0.3)
    lowest, capacity = floors(problem), problem.known.capacity.value
    results = output_of(problem)
    loads = [load_of(problem, TreeJoin(problem.query, tree)) for tree in all_trees(problem)]
    kept = [found for load in loads if (found := best_drops(load, results, lowest, capacity))]
    assert kept
    for point in (found.fractions for found in kept[:3]):
        bounds = [output_bound(load, results, point, lowest, capacity) for load in loads]
        yields = [best_drops(load, results, lowest, capacity) for load in loads]
        assert all(
            found is None or bound >= found.output * (1 - 1e-6)
            for bound, found in zip(bounds, yields, strict=True)
        )


def test_it_ends_when_its_part_of_the_evaluations_is_used_up() -> None:
    problem = scarce(random_problem(0, 5), 0.3)
    few = replace(problem, effort=Effort(most=200))
    assert ExhaustiveSearch(few).best() is not None
    assert few.effort.left_out > 0
    assert few.effort.evaluations < 300


def test_the_planner_searches_all_trees_of_six_inputs_to_shed_from() -> None:
    problem = scarce(random_problem(3, 6), 0.3)
    decision = decide(problem.known, PlanOptions(kinds=TREES, sheds=True))
    assert "exhaustive search" in decision.chosen.found_by
    heuristic = next(each for each in decision.others if "bottom-up heuristic" in each.found_by)
    assert decision.chosen.estimate.output_rate > 1.5 * heuristic.estimate.output_rate
