"""Early aggregation: every set of inputs that may be aggregated before they are joined (T&L)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain, combinations

from penstock.optimize.joins.candidates import Proposal
from penstock.optimize.model.folding import with_early
from penstock.optimize.model.problem import Problem
from penstock.optimize.views.greedy_sets import greedy_sets

MOST_INPUTS = 5
"""Each input doubles the sets; up to so many inputs (32 sets) all are weighed."""
SEVERAL_INPUTS = 8
"""Up to so many inputs there is time to search joins for some sets, beyond it for one."""
SOME_SETS = 4

LATE: tuple[str, ...] = ()

Joins = Callable[[Problem, bool], Iterable[Proposal]]
"""The join plans of a problem, all that are worth it or the best only."""


def early_sets(problem: Problem) -> tuple[tuple[str, ...], ...]:
    """The late plan's empty set, then all 2^m − 1 others, small ones first; or where these are too
    many, those that a greedy search finds, the best first.

    Only a view is aggregated, and with one input there is no join to do it before.
    """
    aliases = problem.query.aliases
    if problem.query.view is None or len(aliases) < 2:
        return (LATE,)
    if len(aliases) > MOST_INPUTS:
        some = SOME_SETS if len(aliases) <= SEVERAL_INPUTS else 1
        return (LATE, *greedy_sets(problem, some))
    sizes = range(len(aliases) + 1)
    return tuple(chain.from_iterable(combinations(aliases, size) for size in sizes))


def early_plans(problem: Problem, joins: Joins) -> Iterator[Proposal]:
    """The join plans of every set, each set with the plans that are best for what is left of it.

    All join plans are proposed for late aggregation; every set of them would be too many.
    """
    for early in early_sets(problem):
        for plan, found_by in joins(with_early(problem, early), early == LATE):
            yield replace(plan, early=early), found_by
