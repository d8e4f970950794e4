"""The meaning of a windowed join, as plain loops: what every plan on every engine must give.

Read it beside DESIGN §1. Nothing here is clever; a combination of tuples is only given up early
when a predicate over the tuples it has so far is already false.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from expressions import value_of

from penstock.query import Column, DataType, Equality, Expression, Input, Query, RowsWindow
from penstock.query.expression import Value
from penstock.query.types import common_type


@dataclass(frozen=True)
class Row:
    """A tuple of a stream (or a row of a table, whose `ts` means nothing)."""

    ts: int
    arrival: int
    values: Mapping[str, Value]


Batches = Mapping[str, Sequence[Sequence[Row]]]
Combination = dict[str, Row]
Columns = dict[Column, Value]


def answer(query: Query, batches: Batches, drain: bool = True) -> list[tuple[Value, ...]]:
    """Every result of the query once, as a tuple of its output values, in no special order.

    `batches[alias][n]` are the tuples that a stream brings in batch n; a table has one batch. Where
    the query has a ROWS window and the input has not ended (`drain` is false), only tuples below
    the frontier are answered.
    """
    windows = {item.alias: in_time(item, batches[item.alias]) for item in query.inputs}
    if query.is_sequenced and not drain:
        end = frontier(query, batches)
        for item in query.streams:
            windows[item.alias] = [row for row in windows[item.alias] if row.ts < end]
    return [
        result(query, found)
        for found in combinations(query, windows)
        if all_alive(query, windows, found)
    ]


def result(query: Query, found: Combination) -> tuple[Value, ...]:
    """What the query says of a combination."""
    known: Columns = {}
    for item in query.inputs:
        known |= columns(item, found[item.alias])
    return tuple(value_of(output.expression, known) for output in query.outputs)


def in_time(item: Input, batches: Sequence[Sequence[Row]]) -> list[Row]:
    """The rows of an input that are not late."""
    if item.is_table:
        return [row for batch in batches for row in batch]
    kept = []
    highest = -math.inf
    for batch in batches:
        kept += [row for row in batch if row.ts >= highest - item.source.lateness]
        highest = max([highest, *(row.ts for row in batch)])
    return kept


def frontier(query: Query, batches: Batches) -> float:
    """The time up to which all streams have been seen."""
    return min(
        max((row.ts for batch in batches[item.alias] for row in batch), default=-math.inf)
        - item.source.lateness
        for item in query.streams
    )


def combinations(query: Query, windows: Mapping[str, list[Row]]) -> Iterator[Combination]:
    """One row of each input, in every way in which the predicates hold."""
    candidates = {item.alias: filtered(query, item, windows[item.alias]) for item in query.inputs}

    def extend(found: Combination, known: Columns, rest: tuple[str, ...]) -> Iterator[Combination]:
        if not rest:
            yield found
            return
        for row, own in candidates[rest[0]]:
            longer, more = {**found, rest[0]: row}, {**known, **own}
            if predicates_hold(query, longer, more, newest=rest[0]):
                yield from extend(longer, more, rest[1:])

    return extend({}, {}, query.aliases)


def filtered(query: Query, item: Input, window: list[Row]) -> list[tuple[Row, Columns]]:
    """The rows of a window that pass the filters, with their columns."""
    rows = [(row, columns(item, row)) for row in window]
    conditions = query.filters_of(item.alias)
    return [
        (row, own)
        for row, own in rows
        if all(value_of(condition.expression, own) is True for condition in conditions)
    ]


def predicates_hold(query: Query, found: Combination, known: Columns, newest: str) -> bool:
    """Whether all that can be said of these rows, now that the newest is there, is true."""

    def is_due(streams: frozenset[str]) -> bool:
        return newest in streams and streams <= found.keys()

    return all(equal(e, known) for e in query.equalities if is_due(e.streams)) and all(
        value_of(c.expression, known) is True for c in query.thetas if is_due(c.streams)
    )


def equal(equality: Equality, row: Columns) -> bool:
    """Whether both sides are the same in their common type: NaN is NaN, null is nothing."""
    type_ = common_type(equality.left.type, equality.right.type)
    left = converted(equality.left, row, type_)
    right = converted(equality.right, row, type_)
    if left is None or right is None:
        return False
    return left == right or (left != left and right != right)


def converted(expression: Expression, row: Columns, type_: DataType | None) -> Value:
    """The value of an expression, in another type."""
    value = value_of(expression, row)
    if value is None:
        return None
    if type_ in (DataType.FLOAT, DataType.DOUBLE):
        return float(value)
    if type_ is DataType.TIMESTAMP and not isinstance(value, datetime):
        assert isinstance(value, date)
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    return value


def all_alive(query: Query, windows: Mapping[str, list[Row]], found: Combination) -> bool:
    """Whether every member is still in its window when the last of them arrives."""
    last = max(place(query, item.alias, found[item.alias]) for item in query.streams)
    return all(
        alive(query, item, windows[item.alias], found[item.alias], last) for item in query.streams
    )


Place = tuple[int, int, int]


def place(query: Query, alias: str, row: Row) -> Place:
    """Where a tuple stands in the total order of all tuples of the query."""
    return (row.ts, query.aliases.index(alias), row.arrival)


def alive(query: Query, item: Input, window: list[Row], row: Row, last: Place) -> bool:
    """Whether a row of an input is in its window at a later place."""
    if isinstance(item.window, RowsWindow):
        mine = group(item.window, row)
        here = place(query, item.alias, row)
        newer = [
            other
            for other in window
            if here < place(query, item.alias, other) <= last and group(item.window, other) == mine
        ]
        return len(newer) < item.window.count
    assert item.window is not None
    if item.window.extent is None:
        return True
    return row.ts >= last[0] // item.window.slide * item.window.slide - item.window.extent


def group(window: RowsWindow, row: Row) -> tuple[object, ...]:
    """The partition of a row: NULL is a value like any other here, and NaN is one value."""
    values = [row.values[name] for name in window.partition_by]
    return tuple(math.nan if value != value else value for value in values)


def columns(item: Input, row: Row) -> Columns:
    """The values of a row by column."""
    return {Column(item.alias, f.name, f.type): row.values[f.name] for f in item.source.fields}
