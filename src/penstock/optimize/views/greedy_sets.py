"""Sets of inputs to aggregate early where there are too many to weigh all: found greedily.

One input after the other is added to the empty set, each time the one that leaves the least work;
likewise one after the other is taken from the set of all. Both ways go on to their end, because two
inputs may gain together what neither gains alone. From the best set that they pass, single inputs
are added or taken away as long as that is better.

With m inputs that weighs at the most 3 m² + m sets, each by the work of two multi-way joins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from penstock.optimize.estimate import needed_by
from penstock.optimize.joins.probe_search import best_orders
from penstock.optimize.model.folding import with_early
from penstock.optimize.model.problem import Problem
from penstock.plan.multiway import MultiwayJoin

Set = frozenset[str]
Work = Callable[[Set], float]
"""Seconds a second that are left with a set aggregated early."""

ROUNDS = 2
"""The most rounds over all inputs in which the best set is improved, for each input."""


def greedy_sets(problem: Problem, most: int) -> tuple[tuple[str, ...], ...]:
    """So many of the sets that the search passes, those of the least work, the best first.

    The empty set is not among them: it is weighed in any case.
    """
    aliases = problem.query.aliases
    work = set_work(problem)
    passed = {*_chain(aliases, work, frozenset(), is_growing=True)}
    passed |= {*_chain(aliases, work, frozenset(aliases), is_growing=False)}
    best = min(passed, key=lambda early: (work(early), len(early), sorted(early)))
    passed |= {*_improved(aliases, work, best)}
    ranked = sorted(passed - {frozenset()}, key=lambda s: (work(s), len(s), sorted(s)))
    return tuple(in_order(aliases, early) for early in ranked[:most])


def in_order(aliases: Iterable[str], early: Set) -> tuple[str, ...]:
    """A set in the order of FROM."""
    return tuple(alias for alias in aliases if alias in early)


def set_work(problem: Problem) -> Work:
    """The work of a set: of the orders that are best if nothing is folded, or if all is."""
    aliases = problem.query.aliases
    plans = [best_orders(problem), best_orders(with_early(problem, aliases))]
    found: dict[Set, float] = {}

    def work(early: Set) -> float:
        if early not in found:
            found[early] = min(_needed(problem, plan, early) for plan in plans)
        return found[early]

    return work


def _needed(problem: Problem, plan: MultiwayJoin, early: Set) -> float:
    return needed_by(problem, replace(plan, early=in_order(problem.query.aliases, early)))


def _chain(aliases: tuple[str, ...], work: Work, start: Set, *, is_growing: bool) -> Iterator[Set]:
    """The sets on the way from one end to the other, each a step of least work from the last."""
    here = start
    yield here
    for _ in aliases:
        open_ = [alias for alias in aliases if (alias not in here) == is_growing]
        here = min((here ^ {alias} for alias in open_), key=work)
        yield here


def _improved(aliases: tuple[str, ...], work: Work, best: Set) -> Iterator[Set]:
    """Ever better sets, each with one input more or less than the one before."""
    for _ in range(ROUNDS * len(aliases)):
        near = min((best ^ {alias} for alias in aliases), key=work)
        if work(near) >= work(best):
            return
        best = near
        yield best
