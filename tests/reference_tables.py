"""The meaning of tables that change, in plain loops: with which version a result is made.

Read it beside docs/language.md, under "Tables that change". The batch that makes a result decides:
of a join over windows of time the one in which the last of its tuples arrives, of all others the
one with which the frontier passes it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from penstock.query import Query
from penstock.query.expression import Value
from reference import (
    Batches,
    Change,
    Row,
    Rows,
    all_alive,
    combinations,
    differences,
    evaluations,
    frontier,
    in_time,
    last_of,
    moment,
    result,
    view_at,
)

Versions = Mapping[str, Sequence[Sequence[Row]]]
"""The rows of each table in each batch, by alias."""


def answer_by_versions(
    query: Query, batches: Batches, versions: Versions, drain: bool = True, since: int = 0
) -> list[tuple[Value, ...]]:
    """Every result of a join that a batch makes `since` one of them, each with the version of the
    batch that makes it."""
    results = []
    for number in range(since, count_of(query, batches)):
        windows = windows_of(query, batches, versions, number)
        for found in combinations(query, windows):
            if all_alive(query, windows, found) and is_made(query, batches, found, number, drain):
                results.append(result(query, found))
    return results


def count_of(query: Query, batches: Batches) -> int:
    return max(len(batches[item.alias]) for item in query.streams)


def windows_of(
    query: Query, batches: Batches, versions: Versions, number: int
) -> dict[str, list[Row]]:
    """The tuples of all streams by a batch, and the tables as it meets them."""
    return {
        item.alias: list(versions[item.alias][number])
        if item.is_table
        else in_time(item, batches[item.alias][: number + 1])
        for item in query.inputs
    }


def is_made(
    query: Query, batches: Batches, found: Mapping[str, Row], number: int, drain: bool
) -> bool:
    """Whether a batch makes the result of these rows."""
    if not query.is_sequenced:
        return any(
            found[item.alias] in batches[item.alias][number]
            for item in query.streams
            if number < len(batches[item.alias])
        )
    is_last = number == count_of(query, batches) - 1
    first, end = come_to(query, batches, number - 1), come_to(query, batches, number)
    time = last_of(query, dict(found))[0]
    return first <= time and (time < end or (is_last and drain))


def come_to(query: Query, batches: Batches, number: int) -> float:
    """The frontier after a batch."""
    if number < 0:
        return -math.inf
    read = {item.alias: batches[item.alias][: number + 1] for item in query.streams}
    return frontier(query, read)


def changes_by_versions(
    query: Query, batches: Batches, versions: Versions, drain: bool = True
) -> list[Change]:
    """What each evaluation of a view changes; it sees the version of the batch that evaluates."""
    return viewed(query, batches, versions, drain)[0]


def viewed(
    query: Query,
    batches: Batches,
    versions: Versions,
    drain: bool = True,
    since: int = 0,
    shown: Rows | None = None,
) -> tuple[list[Change], Rows]:
    """What a view changes with the batches `since` one of them, if so much was `shown` before, and
    what is shown in the end.

    A batch also evaluates the first tick that those before it have not: there the view may change
    because a table, or the query, has.
    """
    changes: list[Change] = []
    shown = {} if shown is None else shown
    last = count_of(query, batches) - 1
    times = evaluations(query, windows_of(query, batches, versions, last))
    for number in range(since, last + 1):
        first, end = come_to(query, batches, number - 1), come_to(query, batches, number)
        end = math.inf if drain and number == last else end
        windows = windows_of(query, batches, versions, number)
        for time in sorted({*times, *first_tick(query, times, first)}):
            if first <= moment(query, time) < end:
                now = view_at(query, windows, time)
                changes += differences(time, shown, now)
                shown = now
    return changes, shown


def first_tick(query: Query, times: Sequence[int], end: float) -> set[int]:
    """The first tick that was not evaluated by the batches that came to an end, if there has been a
    tuple by then."""
    assert query.view is not None
    if math.isinf(end) or not times:
        return set()
    every = query.view.every
    time = -(-int(end) // every) * every
    time = time if moment(query, time) >= end else time + every
    return {time} if time >= min(times) else set()
