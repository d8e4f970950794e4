"""Where filters are evaluated: before the joins, or, if they cost more than that spares, last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from penstock.query import Condition
from penstock.stats.known import Known

EXPENSIVE = 1e-5
"""Seconds from which a filter is worth a thought: joins take some microseconds a tuple."""
MOST_DEFERRED = 3
"""Each filter that might wait doubles the searches; few queries have more than this many."""


def with_late_filters(known: Known, work: Callable[[Known], float]) -> Known:
    """The query with its expensive filters where they cost the least.

    `SELECT … WHERE slow(A.x) AND A.k = B.k`: where few tuples of A find a partner, `slow` is called
    for the results only. A filter that waits stands with the predicates of the joins. `work` is
    what the best plan of a query needs.
    """
    best, least = known, None
    for condition in _expensive(known):
        least = work(best) if least is None else least
        late = _deferred(best, condition)
        found = work(late)
        if found < least:
            best, least = late, found
    return best


def _expensive(known: Known) -> list[Condition]:
    """The filters that take the most time, the worst first."""
    query = known.query
    if len(query.inputs) < 2:
        return []
    slow = [
        c for c in query.filters if c.streams and known.conditions[str(c)].cost.value >= EXPENSIVE
    ]
    return sorted(slow, key=lambda c: -_seconds(known, c))[:MOST_DEFERRED]


def _seconds(known: Known, condition: Condition) -> float:
    """Seconds a second that a filter takes before the joins."""
    (alias,) = condition.streams
    rate = known.rates.get(alias)
    return known.conditions[str(condition)].cost.value * (rate.value if rate else 0.0)


def _deferred(known: Known, condition: Condition) -> Known:
    query = known.query
    filters = tuple(c for c in query.filters if c != condition)
    late = replace(query, filters=filters, thetas=(*query.thetas, condition))
    return replace(known, query=late)
