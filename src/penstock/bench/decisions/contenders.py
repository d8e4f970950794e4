"""The plans of a query that are run to see whether the planner's choice is the best of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from random import Random

from penstock.optimize.joins.candidates import multiway_plans
from penstock.optimize.joins.enumerate import all_trees, left_deep_trees
from penstock.optimize.joins.physical import with_methods
from penstock.optimize.model.problem import Problem
from penstock.plan.multiway import MultiwayJoin, Probe, ProbeOrder
from penstock.plan.plan import Plan
from penstock.plan.text.parse import render_plan
from penstock.plan.tree import TreeJoin, is_left_deep

BUSHY = 10
"""So many bushy trees are run at most."""
RANDOM = 4
"""Multi-way plans with random orders."""


def contenders(problem: Problem, rng: Random) -> dict[str, Plan]:
    """By text: every left-deep tree, some bushy ones, and several multi-way plans.

    Each has the methods of search that cost the least, as a chosen plan has.
    """
    bushy = [tree for tree in all_trees(problem) if not is_left_deep(tree)]
    trees = (*left_deep_trees(problem), *rng.sample(bushy, min(BUSHY, len(bushy))))
    plans = chain(
        (TreeJoin(problem.query, tree) for tree in trees),
        (plan for plan, _ in multiway_plans(problem, frozenset(), every=True)),
        (random_orders(problem, rng) for _ in range(RANDOM)),
    )
    return {render_plan(plan): plan for plan in (with_methods(problem, p) for p in plans)}


def random_orders(problem: Problem, rng: Random) -> MultiwayJoin:
    """A multi-way plan in which every stream visits the others in any order."""
    return MultiwayJoin(problem.query, tuple(_random_orders(problem, rng)))


def _random_orders(problem: Problem, rng: Random) -> Iterator[ProbeOrder]:
    for driver in problem.query.aliases:
        others = [alias for alias in problem.query.aliases if alias != driver]
        bound, probes = problem.mask([driver]), []
        for target in rng.sample(others, len(others)):
            mask = problem.mask([target])
            probes.append(Probe(target, "sorted" if problem.linked(bound, mask) else "nested"))
            bound |= mask
        yield ProbeOrder(driver, tuple(probes))
