"""Plans of views over ROWS windows: searches go by the work that plans are weighed by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product

import pytest

from penstock.optimize.estimate import needed_by
from penstock.optimize.joins.enumerate import all_trees
from penstock.optimize.joins.tree_search import TreeSearch
from penstock.optimize.model.folding import with_early
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.optimize.views.early import early_sets
from penstock.optimize.views.rows_orders import best_rows_orders
from penstock.plan.multiway import MultiwayJoin, Probe, ProbeOrder
from penstock.plan.plan import Plan
from penstock.plan.tree import TreeJoin
from support.plans.planning import priced, random_rows_problem

LATE: tuple[str, ...] = ()


def orders_of(problem: Problem, driver: str) -> list[ProbeOrder]:
    found = []
    for targets in permutations(a for a in problem.query.aliases if a != driver):
        bound, probes = problem.mask([driver]), []
        for target in targets:
            mask = problem.mask([target])
            probes.append(Probe(target, "sorted" if problem.linked(bound, mask) else "nested"))
            bound |= mask
        found.append(ProbeOrder(driver, tuple(probes)))
    return found


def every_multiway(problem: Problem) -> Iterator[Plan]:
    orders = (orders_of(problem, alias) for alias in problem.query.aliases)
    return (MultiwayJoin(problem.query, each) for each in product(*orders))


def every_tree(problem: Problem) -> Iterator[Plan]:
    return (TreeJoin(problem.query, tree) for tree in all_trees(problem))


@pytest.mark.parametrize("seed", range(24))
def test_the_tree_search_finds_the_least_work(seed: int) -> None:
    problem = random_rows_problem(seed, 3 + seed % 3)
    problem = priced(problem, seed) if seed % 2 else problem
    early = early_sets(problem)[seed % 4]
    folded = with_early(problem, early)
    found = TreeSearch(folded).best()
    assert found is not None
    works = [needed_by(problem, replace(plan, early=early)) for plan in every_tree(folded)]
    mine = needed_by(problem, TreeJoin(problem.query, found, early=early))
    assert mine == pytest.approx(min(works), rel=1e-9)


@pytest.mark.parametrize(("seed", "size"), [*((s, 3) for s in range(16)), (20, 4)])
def test_the_best_probe_orders_are_those_of_least_work_together(seed: int, size: int) -> None:
    problem = random_rows_problem(seed, size)
    problem = priced(problem, seed) if seed % 2 else problem
    least = min(needed_by(problem, plan) for plan in every_multiway(problem))
    assert needed_by(problem, best_rows_orders(problem)) == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_the_chosen_plan_is_the_cheapest_of_all(seed: int) -> None:
    problem = random_rows_problem(seed, 3)
    plans = [*every_multiway(problem), *every_tree(problem)]
    least = min(
        needed_by(problem, replace(plan, early=early))
        for plan in plans
        for early in early_sets(problem)
    )
    known = replace(problem.known, capacity=replace(problem.known.capacity, value=1e9))
    chosen = decide(known, PlanOptions(off=frozenset({"mesh"}))).plan
    assert needed_by(problem, chosen) == pytest.approx(least, rel=1e-9)
