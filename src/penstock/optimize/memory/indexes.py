"""Index selection: the windows of a plan that get a hash table, and its buckets (G&O §5.4, §6.5).

Every window is kept in any case. What memory is left is shared out among the windows: none for one
that is looked through, and the more buckets the shorter the chains that a search goes along.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from penstock.optimize.estimate import needed_by
from penstock.optimize.joins.physical import Search, buckets_of, searches, with_methods
from penstock.optimize.memory.knapsack import Option, least_cost
from penstock.optimize.memory.needs import full_buckets, index_bytes, inner_bytes, keys_of
from penstock.optimize.memory.orders import reordered
from penstock.optimize.model.problem import Problem, gain
from penstock.plan.multiway import Method, MultiwayJoin, Probe
from penstock.plan.plan import Plan
from penstock.plan.tree import TreeJoin

_SEVERAL = 2
"""Multi-way joins whose memory is shared out: orders for their indexes are searched anyway."""


@dataclass(frozen=True)
class Indexed:
    """A plan with the buckets of its indexes and the bytes of these and of inner results.

    `extra` is the seconds of work a second that chains take which are longer than with a bucket for
    each tuple. `source` is the plan that it was made from, and `rule` what put its visits in
    another order, if something did.
    """

    source: Plan
    plan: Plan
    buckets: Mapping[str, int]
    size: float
    extra: float
    rule: str = ""


def cheapest(problem: Problem, plans: Sequence[Plan], room: float, is_free: bool) -> Indexed | None:
    """The plan of the least work with indexes that have room; None where none has.

    Where the choice of methods `is_free`, windows may be looked through instead, and multi-way
    joins may visit them in another order.
    """
    joins = [plan for plan in plans if isinstance(plan, MultiwayJoin)][:_SEVERAL]
    others = [plan for plan in plans if not isinstance(plan, MultiwayJoin)]
    found = [each for plan in (*joins, *others) for each in _indexed(problem, plan, room, is_free)]
    return min(found, key=lambda each: _work(problem, each), default=None)


def _work(problem: Problem, each: Indexed) -> tuple[float, float]:
    return round(needed_by(problem, each.plan) + each.extra, 12), each.size


def _indexed(problem: Problem, plan: Plan, room: float, is_free: bool) -> Iterator[Indexed]:
    whole = _whole(problem, with_methods(problem, plan) if is_free else plan)
    if whole.size <= room:
        yield replace(whole, source=plan)
    if not isinstance(plan, MultiwayJoin):
        return
    first = _shared_out(problem, _hashed(plan) if is_free else plan, room, is_free)
    if first is None:
        return
    yield replace(first, source=plan)
    if is_free and problem.size > 2:
        for rule, other in reordered(problem, plan, first.buckets):
            found = _shared_out(problem, _hashed(other), room, is_free)
            if found is not None:
                yield replace(found, source=plan, rule=rule)


def _whole(problem: Problem, plan: Plan) -> Indexed:
    """A plan with a bucket for each tuple wherever it searches by key."""
    buckets, sizes = buckets_of(problem, plan), _tuples(problem)
    is_tree = isinstance(plan, TreeJoin)
    size = sum(
        index_bytes(sizes[alias], 1 if is_tree else keys_of(problem, alias), count)
        for alias, count in buckets.items()
    )
    if isinstance(plan, TreeJoin):
        size += inner_bytes(problem, plan)
    return Indexed(plan, plan, buckets, size, 0.0)


def _hashed(plan: MultiwayJoin) -> MultiwayJoin:
    return _with(plan, dict.fromkeys(plan.query.aliases, "hash"))


def _with(plan: MultiwayJoin, method: Mapping[str, Method]) -> MultiwayJoin:
    """The plan with every window searched by its method."""
    orders = tuple(
        replace(o, probes=tuple(Probe(p.target, method[p.target]) for p in o.probes))
        for o in plan.orders
    )
    return replace(plan, orders=orders)


def _shared_out(problem: Problem, plan: MultiwayJoin, room: float, is_free: bool) -> Indexed | None:
    """The plan with what the room is best used for: exactly of few inputs, greedily of many."""
    mine = {alias: _searches_of(problem, plan, alias) for alias in problem.query.aliases}
    kinds = [_options(problem, alias, found, is_free) for alias, found in mine.items()]
    chosen = least_cost(kinds, room)
    if chosen is None:
        return None
    buckets = {alias: o.buckets for alias, o in zip(mine, chosen, strict=True) if o.buckets}
    if is_free:
        plan = _with(plan, {a: "hash" if a in buckets else "nested" for a in mine})
    extra = sum(_longer(problem, mine[alias], count) for alias, count in buckets.items())
    return Indexed(plan, plan, buckets, sum(option.size for option in chosen), extra)


def _searches_of(problem: Problem, plan: MultiwayJoin, alias: str) -> list[Search]:
    target = problem.mask([alias])
    return [search for search in searches(problem, plan) if search[1] == target]


def _options(
    problem: Problem, alias: str, found: Sequence[Search], is_free: bool
) -> tuple[Option, ...]:
    """No index, and indexes of ever more buckets; one there must be, unless the choice is free."""
    tuples = _tuples(problem)[alias]
    tables = len({key for _, _, key, _ in found if key is not None})
    none = Option(0, 0.0, _cost(problem, found, 0))
    if not tables:
        return (none,)
    powers = takewhile(lambda b: b <= full_buckets(tuples), (1 << n for n in range(is_free, 64)))
    indexes = (Option(b, index_bytes(tuples, tables, b), _cost(problem, found, b)) for b in powers)
    return (none, *indexes) if is_free else tuple(indexes)


def _cost(problem: Problem, found: Sequence[Search], buckets: int) -> float:
    """What the searches of a window take with so many buckets: seconds a second, or comparisons
    where the costs do not tell them from other work."""
    costs = problem.known.costs
    each, hashing = (costs.compare, costs.hash) if costs.join is None else (1.0, 0.0)
    total = 0.0
    for search in found:
        _, target, key, rate = search
        hashed = buckets > 0 and key is not None
        share = max(_matching(problem, search), 1 / buckets) if hashed else 1.0
        total += rate * (each * float(problem.alive[target]) * share + hashing * hashed)
    return total


def _longer(problem: Problem, found: Sequence[Search], buckets: int) -> float:
    """Seconds a second for those in a bucket that do not match."""
    costs = problem.known.costs
    if costs.join is not None:
        return 0.0
    return sum(
        search[3]
        * costs.compare
        * float(problem.alive[search[1]])
        * max(0.0, 1 / buckets - _matching(problem, search))
        for search in found
        if search[2] is not None
    )


def _matching(problem: Problem, search: Search) -> float:
    bound, target, key, _ = search
    return 1.0 if key is None else float(gain(problem.key_fraction(key), bound, target))


def _tuples(problem: Problem) -> dict[str, float]:
    return {flow.alias: flow.window for flow in problem.inputs}
