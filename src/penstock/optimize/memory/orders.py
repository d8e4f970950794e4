"""Probe orders for windows of which some are indexed: all of few inputs, by rule of many."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import combinations, permutations, product

from penstock.optimize.algebra.posynomial import value
from penstock.optimize.joins.ordering import by_bucket_size, hashed_innermost
from penstock.optimize.memory.buckets import longer_chains, searches_in
from penstock.optimize.memory.needs import full_buckets
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.work import as_posynomial, visits_of
from penstock.plan.multiway import MultiwayJoin, Probe, ProbeOrder

EVERY_ORDER = 3
"""Inputs up to which each set of indexes has all orders weighed: 8 sets of 8 orders."""
BEST_ORDERS = 4
"""Inputs up to which each set of indexes has its best orders searched: 16 sets of 24 orders."""
FEWEST = 2
"""Buckets of the smallest index: one bucket would be no better than to look through all."""
_FILLS = (1.0, 1 / 8, 0.0)
"""Buckets for which orders are searched, as parts of a bucket for each tuple: with long chains
other orders are better."""

Proposal = tuple[str, MultiwayJoin]
"""The rule that proposed a plan, and the plan."""


def for_every_set(problem: Problem, plan: MultiwayJoin) -> Iterator[Proposal]:
    """The plan with each set of its windows indexed, in its own orders and in some that suit it."""
    for hashed in _sets(problem.query.aliases):
        yield "", with_indexes(problem, plan, hashed)
        if problem.size > 2:
            for rule, other in _reordered(problem, plan, hashed):
                yield rule, with_indexes(problem, other, hashed)


def by_rule(problem: Problem, plan: MultiwayJoin, buckets: Mapping[str, int]) -> Iterator[Proposal]:
    """The plan in the orders of G&O's rules for the given buckets."""
    yield "hashed innermost", replace(plan, orders=hashed_innermost(problem, buckets))
    yield "by bucket size", replace(plan, orders=by_bucket_size(problem, buckets))


def with_indexes(problem: Problem, plan: MultiwayJoin, hashed: Collection[str]) -> MultiwayJoin:
    """The plan with these windows searched by key where there is one, the others looked through."""
    orders = tuple(_visiting(problem, o.driver, o.targets, hashed) for o in plan.orders)
    return replace(plan, orders=orders)


def _visiting(
    problem: Problem, driver: str, targets: Collection[str], hashed: Collection[str]
) -> ProbeOrder:
    bound, probes = problem.mask([driver]), []
    for target in targets:
        mask = problem.mask([target])
        is_keyed = target in hashed and problem.linked(bound, mask)
        probes.append(Probe(target, "hash" if is_keyed else "nested"))
        bound |= mask
    return ProbeOrder(driver, tuple(probes))


def _sets(aliases: Collection[str]) -> Iterator[tuple[str, ...]]:
    for count in range(len(aliases) + 1):
        yield from combinations(aliases, count)


def _reordered(problem: Problem, plan: MultiwayJoin, hashed: Collection[str]) -> Iterator[Proposal]:
    """The plan in orders that suit its indexes, however large they are."""
    if problem.size > BEST_ORDERS:
        yield from by_rule(problem, plan, _buckets(problem, hashed, 1.0))
        return
    each = [
        [_visiting(problem, o.driver, t, hashed) for t in permutations(o.targets)]
        for o in plan.orders
    ]
    if problem.size <= EVERY_ORDER:
        for orders in product(*each):
            yield "orders for indexes", replace(plan, orders=orders)
        return
    for fill in _FILLS:
        buckets = _buckets(problem, hashed, fill)
        best = (min(o, key=lambda o: _seconds(problem, plan, o, buckets)) for o in each)
        yield "orders for indexes", replace(plan, orders=tuple(best))


def _buckets(problem: Problem, hashed: Collection[str], fill: float) -> dict[str, int]:
    return {
        flow.alias: max(FEWEST, int(fill * full_buckets(flow.window)))
        for flow in problem.inputs
        if flow.alias in hashed
    }


def _seconds(
    problem: Problem, plan: MultiwayJoin, order: ProbeOrder, buckets: Mapping[str, int]
) -> float:
    """Seconds of work a second of an order whose chains are of these lengths."""
    visits = value(as_posynomial(problem, visits_of(problem, order)), [1.0] * problem.size)
    found = searches_in(problem, replace(plan, orders=(order,)))
    return visits + sum(longer_chains(problem, found[a], n) for a, n in buckets.items())
