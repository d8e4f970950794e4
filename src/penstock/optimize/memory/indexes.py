"""Index selection: the windows of a plan that get a hash table, and its buckets (G&O §5.4, §6.5).

Every window is kept in any case. What memory is left is shared out among the windows: none for one
that is looked through, and the more buckets the shorter the chains that a search goes along.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from penstock.optimize.estimate import needed_by
from penstock.optimize.joins.physical import buckets_of, with_methods
from penstock.optimize.memory.buckets import best_buckets, comparisons
from penstock.optimize.memory.greedy import greedily
from penstock.optimize.memory.knapsack import MOST_EXACT
from penstock.optimize.memory.needs import index_bytes, inner_bytes, keys_of
from penstock.optimize.memory.orders import FEWEST, Proposal, by_rule, for_every_set
from penstock.optimize.model.problem import Problem
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from penstock.plan.tree import TreeJoin

_SEVERAL = 2
"""Multi-way joins whose memory is shared out: orders for their indexes are searched anyway."""


@dataclass(frozen=True)
class Indexed:
    """A plan with the buckets of its indexes and the bytes of these and of inner results.

    `extra` is the seconds of work a second that chains take which are longer than with a bucket for
    each tuple. `source` is the plan that it was made from, and `rule` what put its visits in
    another order, if something did. `comparisons` are 0 where costs tell them from other work.
    """

    source: Plan
    plan: Plan
    buckets: Mapping[str, int]
    size: float
    extra: float
    rule: str = ""
    comparisons: float = 0.0


def cheapest(problem: Problem, plans: Sequence[Plan], room: float, is_free: bool) -> Indexed | None:
    """The plan of the least work with indexes that have room; None where none has.

    Where the choice of methods `is_free`, windows may be looked through instead, and multi-way
    joins may visit them in another order.
    """
    joins = [plan for plan in plans if isinstance(plan, MultiwayJoin)][:_SEVERAL]
    others = [plan for plan in plans if not isinstance(plan, MultiwayJoin)]
    found = [each for plan in (*joins, *others) for each in _indexed(problem, plan, room, is_free)]
    return min(found, key=lambda each: _work(problem, each), default=None)


def _work(problem: Problem, each: Indexed) -> tuple[float, float, float]:
    return round(needed_by(problem, each.plan) + each.extra, 12), each.comparisons, each.size


def _indexed(problem: Problem, plan: Plan, room: float, is_free: bool) -> Iterator[Indexed]:
    whole = _whole(problem, with_methods(problem, plan) if is_free else plan)
    if whole.size <= room:
        yield replace(whole, source=plan)
    if not isinstance(plan, MultiwayJoin):
        return
    for rule, other in _candidates(problem, plan, room) if is_free else (("", plan),):
        found = _shared_out(problem, other, room, FEWEST if is_free else 1)
        if found is not None:
            yield replace(found, source=plan, rule=rule)


def _candidates(problem: Problem, plan: MultiwayJoin, room: float) -> Iterator[Proposal]:
    """Plans with each window indexed or looked through.

    Of few inputs they are the same whatever the room, so that more of it never is a loss.
    """
    if problem.size <= MOST_EXACT:
        yield from for_every_set(problem, plan)
        return
    first = greedily(problem, plan, room)
    yield "", first
    found = best_buckets(problem, first, room, FEWEST)
    for rule, other in by_rule(problem, plan, {} if found is None else found.counts):
        yield rule, greedily(problem, other, room)


def _whole(problem: Problem, plan: Plan) -> Indexed:
    """A plan with a bucket for each tuple wherever it searches by key."""
    buckets = buckets_of(problem, plan)
    sizes = {flow.alias: flow.window for flow in problem.inputs}
    is_tree = isinstance(plan, TreeJoin)
    size = sum(
        index_bytes(sizes[alias], 1 if is_tree else keys_of(problem, alias), count)
        for alias, count in buckets.items()
    )
    if isinstance(plan, TreeJoin):
        size += inner_bytes(problem, plan)
    return Indexed(plan, plan, buckets, size, 0.0)


def _shared_out(problem: Problem, plan: MultiwayJoin, room: float, least: int) -> Indexed | None:
    """The plan with the buckets for which the room is best used."""
    found = best_buckets(problem, plan, room, least)
    if found is None:
        return None
    compared = comparisons(problem, plan, found)
    return Indexed(plan, plan, found.counts, found.size, found.extra, comparisons=compared)
