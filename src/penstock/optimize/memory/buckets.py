"""The buckets of the indexes of a plan: as many as there is room for, where chains matter most.

For given orders and indexes the work of a plan is known but for its chains, which are longer the
fewer buckets there are: what they take is the objective, and nothing else is left to decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from penstock.optimize.joins.physical import Search, searches
from penstock.optimize.memory.knapsack import Option, least_cost
from penstock.optimize.memory.needs import full_buckets, index_bytes
from penstock.optimize.model.problem import Problem, gain
from penstock.plan.multiway import MultiwayJoin

Searches = Mapping[str, Sequence[Search]]
"""The searches in the window of each input."""


@dataclass(frozen=True)
class Buckets:
    """The buckets of each index and their bytes, and the seconds of work a second that chains take
    which are longer than with a bucket for each tuple."""

    counts: Mapping[str, int]
    size: float
    extra: float


def best_buckets(problem: Problem, plan: MultiwayJoin, room: float, least: int) -> Buckets | None:
    """The buckets of a plan, at the least so many of an index; None where there is no room."""
    found = searches_in(problem, plan)
    kinds = [
        indexes(problem, alias, mine, least) or (Option(0, 0.0, 0.0),)
        for alias, mine in found.items()
    ]
    chosen = least_cost(kinds, room)
    if chosen is None:
        return None
    counts = {alias: o.buckets for alias, o in zip(found, chosen, strict=True) if o.buckets}
    extra = sum(option.cost for option in chosen) if problem.known.costs.join is None else 0.0
    return Buckets(counts, sum(option.size for option in chosen), extra)


def indexes(
    problem: Problem, alias: str, found: Sequence[Search], least: int
) -> tuple[Option, ...]:
    """Indexes of ever more buckets for a window, with what their chains take; none without a key.

    Where costs do not tell comparisons from other work, these are counted.
    """
    tuples = {flow.alias: flow.window for flow in problem.inputs}[alias]
    tables = len({key for _, _, key, _ in found if key is not None})
    if not tables:
        return ()
    powers = takewhile(lambda b: b <= full_buckets(tuples), (1 << n for n in range(64)))
    return tuple(
        Option(b, index_bytes(tuples, tables, b), longer_chains(problem, found, b))
        for b in powers
        if b >= min(least, full_buckets(tuples))
    )


def searches_in(problem: Problem, plan: MultiwayJoin) -> Searches:
    """The searches of a plan by window."""
    found: dict[str, list[Search]] = {alias: [] for alias in problem.query.aliases}
    for search in searches(problem, plan):
        found[problem.query.aliases[search[1].bit_length() - 1]].append(search)
    return found


def longer_chains(problem: Problem, found: Sequence[Search], buckets: int) -> float:
    """Seconds a second, or comparisons, for those in a bucket that do not match."""
    return compare_seconds(problem) * sum(
        search[3]
        * float(problem.alive[search[1]])
        * max(0.0, 1 / buckets - matching(problem, search))
        for search in found
        if search[2] is not None
    )


def comparisons(problem: Problem, plan: MultiwayJoin, buckets: Buckets) -> float:
    """Comparisons a second, where nothing else tells indexes from looking through windows."""
    if problem.known.costs.join is None:
        return 0.0
    found = searches_in(problem, plan)
    matched = sum(
        search[3] * float(problem.alive[search[1]]) * matching(problem, search)
        for mine in found.values()
        for search in mine
    )
    chains = (longer_chains(problem, found[alias], n) for alias, n in buckets.counts.items())
    return matched + sum(chains)


def compare_seconds(problem: Problem) -> float:
    """Seconds of a comparison; 1 where costs do not tell it from other work."""
    costs = problem.known.costs
    return costs.compare if costs.join is None else 1.0


def matching(problem: Problem, search: Search) -> float:
    """The part of a window that a search finds; all of it without a key."""
    bound, target, key, _ = search
    return 1.0 if key is None else float(gain(problem.key_fraction(key), bound, target))
