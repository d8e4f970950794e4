"""Searches for trees and probe orders find what looking at all of them finds."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from penstock.figure import Figure
from penstock.optimize.algebra.posynomial import value
from penstock.optimize.joins.beam import promising_tree
from penstock.optimize.joins.candidates import is_product
from penstock.optimize.joins.enumerate import all_trees, left_deep_trees
from penstock.optimize.joins.probe_search import best_orders
from penstock.optimize.joins.tree_search import TreeSearch
from penstock.optimize.model.load import load_of
from penstock.optimize.model.problem import Problem
from penstock.plan.multiway import MultiwayJoin, Probe, ProbeOrder
from penstock.plan.plan import Plan
from penstock.plan.tree import Branch, Node, TreeJoin, branches, is_left_deep, leaves
from penstock.stats.costs import Costs
from penstock.stats.statistics import Group
from support.plans.planning import example_1, priced, problem_of, query_of, random_problem


def work(problem: Problem, plan: Plan) -> float:
    return value(load_of(problem, plan), [1.0] * problem.size)


def tree_work(problem: Problem, tree: Node) -> float:
    return work(problem, TreeJoin(problem.query, tree))


@pytest.mark.parametrize(("size", "trees", "left_deep"), [(2, 1, 1), (3, 3, 3), (4, 15, 12)])
def test_every_tree_once(size: int, trees: int, left_deep: int) -> None:
    problem = random_problem(1, size)
    everything = list(all_trees(problem))
    assert len(set(everything)) == len(everything) == trees
    straight = set(left_deep_trees(problem))
    assert len(straight) == left_deep
    assert straight == {tree for tree in everything if is_left_deep(tree)}


@pytest.mark.parametrize("seed", range(40))
def test_tree_search_finds_the_least_work(seed: int) -> None:
    problem = random_problem(seed, 2 + seed % 4)
    everything = list(all_trees(problem))
    straight = [tree for tree in everything if is_left_deep(tree)]
    linked = [t for t in everything if not any(is_product(problem, b) for b in branches(t))]
    for search, among in (
        (TreeSearch(problem), everything),
        (TreeSearch(problem, is_bushy=False), straight),
        (TreeSearch(problem, with_products=False), linked),
    ):
        found = search.best()
        assert found in among
        least = min(tree_work(problem, tree) for tree in among)
        assert tree_work(problem, found) == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_searches_know_what_equalities_take_by_themselves(seed: int) -> None:
    problem = priced(random_problem(seed, 3 + seed % 3), seed)
    found = TreeSearch(problem).best()
    assert found is not None
    least = min(tree_work(problem, tree) for tree in all_trees(problem))
    assert tree_work(problem, found) == pytest.approx(least, rel=1e-9)
    for order in best_orders(problem).orders:
        others = [alias for alias in problem.query.aliases if alias != order.driver]
        orders = (ordered(problem, order.driver, targets) for targets in permutations(others))
        least = min(driver_work(problem, each) for each in orders)
        assert driver_work(problem, order) == pytest.approx(least, rel=1e-9)
    promised = promising_tree(problem, is_bushy=True, with_products=True)
    assert promised is not None
    assert tree_work(problem, promised) <= 3 * tree_work(problem, found)


def test_an_equality_is_paid_where_its_inputs_come_together() -> None:
    """60 and 40 arrivals/s at the lower join, and of its 480/s and 10/s at the upper one."""
    plain, costly = example_1(0.0005), Group(0, (0,), frozenset("AB"))
    problem = Problem(
        plain.query, replace(plain.known, handling={costly: Figure(0.001, "declared")})
    )
    b_c_first, a_b_first = (
        next(t for t in all_trees(problem) if set(leaves(branches_of(t)[0])) == set(lower))
        for lower in ("BC", "AB")
    )
    below = tree_work(problem, a_b_first) - tree_work(plain, a_b_first)
    assert below == pytest.approx((10 + 70) * 0.001)
    above = tree_work(problem, b_c_first) - tree_work(plain, b_c_first)
    assert above == pytest.approx((180 + 10) * 0.001)
    assert TreeSearch(plain).best() == b_c_first
    assert TreeSearch(problem).best() != b_c_first


def branches_of(tree: Node) -> list[Branch]:
    return list(branches(tree))


def test_no_tree_without_products() -> None:
    query = query_of(
        "SELECT A.k FROM A [RANGE 5 SECONDS], B [RANGE 5 SECONDS], C [RANGE 5 SECONDS] "
        "WHERE A.k = B.k",
        dict.fromkeys("ABC", "k"),
    )
    rates = dict.fromkeys("ABC", 1.0)
    problem = problem_of(query, rates, {"A B": 0.1}, Costs("declared", join=0.001))
    assert TreeSearch(problem, with_products=False).best() is None
    assert TreeSearch(problem).best() is not None


@pytest.mark.parametrize("seed", range(40))
def test_probe_search_finds_the_least_work(seed: int) -> None:
    problem = random_problem(seed, 2 + seed % 4)
    found = best_orders(problem)
    for order in found.orders:
        others = [alias for alias in problem.query.aliases if alias != order.driver]
        least = min(
            driver_work(problem, ordered(problem, order.driver, targets))
            for targets in permutations(others)
        )
        assert driver_work(problem, order) == pytest.approx(least, rel=1e-9)


def driver_work(problem: Problem, order: ProbeOrder) -> float:
    """The work of one driver's visits; what it inserts does not depend on its order."""
    tuples = MultiwayJoin(problem.query, (order,))
    if problem.known.costs.join is not None:
        return work(problem, tuples)
    costs = problem.known.costs
    driver = problem.query.aliases.index(order.driver)
    once = costs.move + costs.insert + costs.expire + costs.hash
    return work(problem, tuples) - once * problem.inputs[driver].rate


def ordered(problem: Problem, driver: str, targets: tuple[str, ...]) -> ProbeOrder:
    bound, probes = problem.mask([driver]), []
    for target in targets:
        mask = problem.mask([target])
        probes.append(Probe(target, "sorted" if problem.linked(bound, mask) else "nested"))
        bound |= mask
    return ProbeOrder(driver, tuple(probes))


def test_all_trees_yield_the_same() -> None:
    """A&N: all plans that keep up have the same output rate, which here no plan enters at all."""
    problem = example_1(0.0005)
    works = {round(tree_work(problem, tree), 12) for tree in all_trees(problem)}
    assert works == {0.25, 0.14, 0.2}
