"""Probe orders for windows of which some are indexed: all of few inputs, by rule of many."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import combinations, permutations

from penstock.optimize.algebra.posynomial import value
from penstock.optimize.joins.ordering import by_bucket_size, hashed_innermost
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.work import as_posynomial, visits_of
from penstock.plan.multiway import MultiwayJoin, Probe, ProbeOrder

EVERY_ORDER = 4
"""Inputs up to which each set of indexes has its best orders searched: 16 sets of 24 orders."""

Proposal = tuple[str, MultiwayJoin]
"""The rule that proposed a plan, and the plan."""


def reordered(
    problem: Problem, plan: MultiwayJoin, buckets: Mapping[str, int]
) -> Iterator[Proposal]:
    """The plan with orders that suit indexes: the best for every set of them if inputs are few,
    otherwise those of G&O's rules for the given buckets."""
    if problem.size <= EVERY_ORDER:
        for hashed in _sets(problem.query.aliases):
            orders = tuple(_best(problem, order, hashed) for order in plan.orders)
            yield "orders for indexes", replace(plan, orders=orders)
        return
    yield "hashed innermost", replace(plan, orders=hashed_innermost(problem, buckets))
    yield "by bucket size", replace(plan, orders=by_bucket_size(problem, buckets))


def _sets(aliases: Collection[str]) -> Iterator[tuple[str, ...]]:
    for count in range(len(aliases) + 1):
        yield from combinations(aliases, count)


def _best(problem: Problem, order: ProbeOrder, hashed: Collection[str]) -> ProbeOrder:
    """The order of a driver of the least work if these windows have an index, and no others."""
    orders = (
        ProbeOrder(
            order.driver,
            tuple(Probe(target, "hash" if target in hashed else "nested") for target in targets),
        )
        for targets in permutations(order.targets)
    )
    return min(orders, key=lambda each: _visiting(problem, each))


def _visiting(problem: Problem, order: ProbeOrder) -> float:
    return value(as_posynomial(problem, visits_of(problem, order)), [1.0] * problem.size)
