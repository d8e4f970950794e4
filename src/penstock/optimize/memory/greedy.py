"""Which windows of many have an index: one more, or more buckets, where it spares the most."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.optimize.joins.physical import Search
from penstock.optimize.memory.buckets import (
    compare_seconds,
    indexes,
    longer_chains,
    matching,
    searches_in,
)
from penstock.optimize.memory.knapsack import Option, least_cost
from penstock.optimize.memory.orders import FEWEST, with_indexes
from penstock.optimize.model.problem import Problem
from penstock.plan.multiway import MultiwayJoin


def greedily(problem: Problem, plan: MultiwayJoin, room: float) -> MultiwayJoin:
    """The plan with indexes on those of its windows for which the room is best used."""
    found = searches_in(problem, with_indexes(problem, plan, problem.query.aliases))
    kinds = [_options(problem, alias, mine) for alias, mine in found.items()]
    chosen = least_cost(kinds, room) or ()
    hashed = [alias for alias, option in zip(found, chosen, strict=bool(chosen)) if option.buckets]
    return with_indexes(problem, plan, hashed)


def _options(problem: Problem, alias: str, found: Sequence[Search]) -> tuple[Option, ...]:
    """No index, or one of ever more buckets, with what is done for each in the window."""
    each = compare_seconds(problem)
    through = sum(each * search[3] * float(problem.alive[search[1]]) for search in found)
    by_key = sum(
        search[3] * (each * float(problem.alive[search[1]]) * matching(problem, search))
        for search in found
    )
    by_key += _upkeep(problem, alias, found)
    return (
        Option(0, 0.0, through),
        *(
            Option(o.buckets, o.size, by_key + longer_chains(problem, found, o.buckets))
            for o in indexes(problem, alias, found, FEWEST)
        ),
    )


def _upkeep(problem: Problem, alias: str, found: Sequence[Search]) -> float:
    """Seconds a second that searches hash, and that tuples take in more tables than one."""
    costs = problem.known.costs
    if costs.join is not None:
        return 0.0
    hashing = costs.hash * sum(search[3] for search in found if search[2] is not None)
    tables = {search[2] for search in found}
    each = costs.insert + costs.expire + problem.sides.settle.get(problem.mask([alias]), 0.0)
    rate = problem.inputs[problem.places[alias]].rate
    return hashing + (max(1, len(tables)) - 1) * each * rate
