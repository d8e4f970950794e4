"""The plans that are worth an estimate, and which search proposed each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.optimize.joins.cardinality import CardinalitySearch
from penstock.optimize.joins.enumerate import all_trees, left_deep_trees
from penstock.optimize.joins.exhaustive import ExhaustiveSearch
from penstock.optimize.joins.heuristic import heuristic_tree
from penstock.optimize.joins.ordering import augmented, descending_selectivity
from penstock.optimize.joins.probe_search import best_orders
from penstock.optimize.joins.rate_search import MOST_INPUTS, goal_trees
from penstock.optimize.joins.tree_search import TreeSearch
from penstock.optimize.model.problem import Problem
from penstock.plan.default_plan import default_plan
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from penstock.plan.tree import Branch, Node, TreeJoin, branches, is_left_deep, leaves
from penstock.query.goal import Goal, Steady

EVERY_TREE = 5
"""Up to so many inputs (105 trees) all trees are weighed where no dynamic programme is exact."""
FEW = 4
"""Up to so many inputs (15 trees) all trees and the rules for probe orders are weighed in any case:
the searches for the least work do not know what it takes to start batches, nor the state."""
SEVERAL_SEARCHES = 10
"""Up to so many inputs there is time for more than one search over trees."""
HEURISTIC = 8
"""Up to so many inputs the bottom-up heuristic proposes a tree for goals that it knows nothing of:
it searches for the tree to shed from, of any number of inputs."""
EXHAUSTIVE = 6
"""Up to so many inputs (945 trees) the best tree to shed from is searched among all."""

FROM_ORDER = "FROM order"

Proposal = tuple[Plan, str]


def multiway_plans(problem: Problem, off: frozenset[str], every: bool) -> Iterator[Proposal]:
    """Multi-way joins: FROM's order, the exact one, and of few inputs, if `every`, the rules'."""
    if "probe-order" not in off and problem.size > 2:
        yield best_orders(problem), "exact probe orders"
    yield default_plan(problem.query), FROM_ORDER
    if every and "probe-order" not in off and 2 < problem.size <= FEW:
        yield MultiwayJoin(problem.query, descending_selectivity(problem)), "descending selectivity"
        yield MultiwayJoin(problem.query, augmented(problem)), "augmented ordering"


def tree_plans(
    problem: Problem, goal: Goal, off: frozenset[str], *, is_exact: bool, every: bool
) -> Iterator[Proposal]:
    """Join trees: those of the searches, and all where no search is exact or inputs are few.

    `is_exact` says that the best plan is the one of least work, which dynamic programming finds.
    """
    for tree, found_by in _searched(problem, goal, off, is_exact):
        if tree is not None and _is_wanted(problem, tree, off):
            yield TreeJoin(problem.query, tree), found_by
    most = FEW if is_exact else EVERY_TREE
    if problem.size <= most and (every or not is_exact):
        for tree in _every_tree(problem, off):
            yield TreeJoin(problem.query, tree), "every tree"


def _searched(
    problem: Problem, goal: Goal, off: frozenset[str], is_exact: bool
) -> Iterable[tuple[Node | None, str]]:
    bushy, products = "bushy" not in off, "products" not in off
    yield TreeSearch(problem, bushy, products).best(), "least work"
    if problem.estimator == "cardinality" and (tabled := problem.tabled(MOST_INPUTS)):
        yield CardinalitySearch(tabled, bushy).best(), "least cost by cardinalities"
    if not isinstance(goal, Steady):
        yield from goal_trees(problem, goal, bushy=bushy, products=products)
    if bushy and problem.size <= SEVERAL_SEARCHES:
        yield TreeSearch(problem, False, products).best(), "least work, left-deep"
    if is_exact:
        return
    sheds = isinstance(goal, Steady)
    is_grown_bushy = sheds and bushy and problem.size > EXHAUSTIVE
    if is_grown_bushy:
        yield heuristic_tree(problem, is_bushy=True), "bottom-up heuristic, bushy"
    # To shed from each of many inputs takes long: one search must do.
    if problem.size <= HEURISTIC or (sheds and not (is_grown_bushy and problem.is_large)):
        yield heuristic_tree(problem), "bottom-up heuristic"
    if sheds and EVERY_TREE < problem.size <= EXHAUSTIVE:
        yield ExhaustiveSearch(problem, _every_tree(problem, off)).best(), "exhaustive search"


def _every_tree(problem: Problem, off: frozenset[str]) -> Iterator[Node]:
    """All trees that are wanted."""
    trees = left_deep_trees(problem) if "bushy" in off else all_trees(problem)
    return (tree for tree in trees if _is_wanted(problem, tree, off))


def _is_wanted(problem: Problem, tree: Node, off: frozenset[str]) -> bool:
    if "bushy" in off and not is_left_deep(tree):
        return False
    return "products" not in off or not any(is_product(problem, b) for b in branches(tree))


def is_product(problem: Problem, branch: Branch) -> bool:
    """Whether no predicate links the two sides of a join."""
    left, right = problem.mask(leaves(branch.left)), problem.mask(leaves(branch.right))
    by_theta = any(
        mask & left and mask & right and mask & ~(left | right) == 0
        for mask, _ in problem.theta_masks
    )
    return not by_theta and not problem.linked(left, right)
