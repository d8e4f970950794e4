"""The meaning of windowed joins and of views, in plain loops: what every engine must give.

Read it beside docs/language.md. Nothing here is clever; a combination of tuples is only given up
early when a predicate over the tuples it has so far is already false.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cmp_to_key, partial
from typing import Any, Literal

import pyarrow as pa

from penstock.engine.expressions.arrow_types import arrow_type
from penstock.errors import EvaluationError
from penstock.kernels.hashing import hash_column
from penstock.query import (
    Aggregate,
    Column,
    Condition,
    DataType,
    Equality,
    Expression,
    Input,
    OuterJoin,
    Query,
    RowsWindow,
    TimeWindow,
    View,
    Window,
)
from penstock.query.expression import Value
from penstock.query.ranking import NUMBER, Order, Top
from penstock.query.types import common_type
from support.streams.expressions import BITS, cast, compare, to_decimal, value_of


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
    if query.outer is not None:
        ends = {} if drain else {item.alias: reached(item, batches) for item in query.streams}
        return [values for _, values in outer_answer(query, windows, ends, is_read=False)]
    end = math.inf if drain else frontier(query, batches)
    return [values for _, values in timed_answer(query, windows, end)]


def timed_answer(
    query: Query, windows: Mapping[str, list[Row]], end: float
) -> list[tuple[int, tuple[Value, ...]]]:
    """Every result once, with the time of its last tuple; with ROWS windows, of those before an
    end. A view that is met as it is never has the last tuple."""
    here = dict(windows)
    if query.is_sequenced:
        for item in query.streams:
            here[item.alias] = [row for row in here[item.alias] if row.ts < end]
    return [
        (last_of(query, found)[0], result(query, found))
        for found in combinations(query, here)
        if driven(query, found) and all_alive(query, here, found)
    ]


def result(query: Query, found: Combination) -> tuple[Value, ...]:
    """What the query says of a combination."""
    known = known_columns(query, found)
    return tuple(value_of(output.expression, known) for output in query.outputs)


def known_columns(query: Query, found: Combination) -> Columns:
    """The columns of a combination; those of inputs that it has no row of are NULL."""
    known: Columns = {}
    for item in query.inputs:
        row = found.get(item.alias)
        known |= nothing(item) if row is None else columns(item, row)
    return known


def sound(query: Query, batches: Batches, clocks: Sequence[int]) -> Batches:
    """The batches without the rows that are too far in the future, which are malformed: further
    ahead of what the clock showed when their batch was put together than their stream allows."""

    def is_sound(item: Input, row: Row, clock: int) -> bool:
        future = item.source.future
        return item.is_table or future is None or row.ts - clock <= future

    return {
        item.alias: [
            [row for row in batch if is_sound(item, row, clock)]
            for batch, clock in zip(batches[item.alias], clocks, strict=False)
        ]
        for item in query.inputs
    }


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
    return min(reached(item, batches) for item in query.streams)


def reached(item: Input, batches: Batches) -> float:
    """The time below which the next tuples of a stream are late."""
    times = (row.ts for batch in batches[item.alias] for row in batch)
    return max(times, default=-math.inf) - item.source.lateness


def combinations(
    query: Query, windows: Mapping[str, list[Row]], aliases: tuple[str, ...] | None = None
) -> Iterator[Combination]:
    """One row of each input (or of some), in every way in which the predicates hold."""
    wanted = query.aliases if aliases is None else aliases
    candidates = {a: filtered(query, query.input(a), windows[a]) for a in wanted}
    due = due_predicates(query, wanted)

    def extend(found: Combination, known: Columns, rest: tuple[str, ...]) -> Iterator[Combination]:
        if not rest:
            yield found
            return
        for row, own in candidates[rest[0]]:
            more = {**known, **own}
            if hold(due[rest[0]], more):
                yield from extend({**found, rest[0]: row}, more, rest[1:])

    return extend({}, {}, wanted)


def filtered(query: Query, item: Input, window: list[Row]) -> list[tuple[Row, Columns]]:
    """The rows of a window that pass the filters, with their columns."""
    rows = [(row, columns(item, row)) for row in window]
    conditions = query.filters_of(item.alias)
    return [
        (row, own)
        for row, own in rows
        if all(value_of(condition.expression, own) is True for condition in conditions)
    ]


@dataclass(frozen=True)
class Predicates:
    """Predicates; an equality is there with the type in which it compares."""

    equalities: tuple[tuple[Equality, DataType | None], ...]
    thetas: tuple[Condition, ...]


def due_predicates(query: Query, aliases: tuple[str, ...]) -> dict[str, Predicates]:
    """What can be said first when the row of each input is there, in that order."""
    due = {}
    for number, newest in enumerate(aliases):
        there = frozenset(aliases[: number + 1])
        pairs = [e for e in query.equalities if newest in e.streams <= there]
        thetas = tuple(c for c in query.thetas if newest in c.streams <= there)
        due[newest] = Predicates(tuple((e, type_of(e)) for e in pairs), thetas)
    return due


def hold(predicates: Predicates, known: Columns) -> bool:
    """Whether all of them are true."""
    return all(equal_in(type_, e, known) for e, type_ in predicates.equalities) and all(
        value_of(c.expression, known) is True for c in predicates.thetas
    )


def type_of(equality: Equality) -> DataType | None:
    """The type in which both sides are compared."""
    return common_type(equality.left.type, equality.right.type)


def equal(equality: Equality, row: Columns) -> bool:
    """Whether both sides are the same in their common type: NaN is NaN, null is nothing."""
    return equal_in(type_of(equality), equality, row)


def equal_in(type_: DataType | None, equality: Equality, row: Columns) -> bool:
    """The same, where that type is known."""
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
        assert isinstance(value, int | float | Decimal | str)
        return float(value)
    if type_ is not None and type_.is_moment:
        return cast(value, type_)
    return value


def all_alive(query: Query, windows: Mapping[str, list[Row]], found: Combination) -> bool:
    """Whether every member is still in its window when the last of them arrives."""
    last = last_of(query, found)
    streams = [item for item in query.streams if item.alias in found]
    return all(alive(query, item, windows[item.alias], found[item.alias], last) for item in streams)


Place = tuple[int, int, int]
_RANKS, _COLUMNS = "ranks of the reference", "columns of the reference"


def ranks(query: Query) -> dict[str, int]:
    """Where the tuples of each stream stand among those of one time: first the changes of views
    that are met as they are, below 0, then the others in the order of FROM. Tables have no place.

    Asked for at every turn, they are found once: a query does not change.
    """
    kept = vars(query)
    if _RANKS not in kept:
        before = {item.alias: len(query.inputs) if item.is_relation else 0 for item in query.inputs}
        kept[_RANKS] = {
            item.alias: query.aliases.index(item.alias) - before[item.alias]
            for item in query.streams
        }
    found: dict[str, int] = kept[_RANKS]
    return found


def place(query: Query, alias: str, row: Row) -> Place:
    """Where a tuple stands in the total order of all tuples of the query."""
    return (row.ts, ranks(query)[alias], row.arrival)


def last_of(query: Query, found: Combination) -> Place:
    """Where the last member of a combination stands."""
    rank = ranks(query)
    return max((row.ts, rank[alias], row.arrival) for alias, row in found.items() if alias in rank)


def driven(query: Query, found: Combination) -> bool:
    """Whether the last member is a tuple of a stream, and no change of a view."""
    return last_of(query, found)[1] >= 0


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
    """The values of a row by column, found once for each input that it is of."""
    kept, key, named = vars(row), "of " + item.alias, columns_in(item)
    if key not in kept or kept[key][0] is not named:
        kept[key] = (named, {column: row.values[column.name] for column in named})
    found: Columns = kept[key][1]
    return found


def nothing(item: Input) -> Columns:
    """A row of an input in which all is NULL."""
    return dict.fromkeys(columns_in(item))


def columns_in(item: Input) -> tuple[Column, ...]:
    """The columns of an input, found once."""
    kept = vars(item)
    if _COLUMNS not in kept:
        kept[_COLUMNS] = tuple(Column(item.alias, f.name, f.type) for f in item.source.fields)
    found: tuple[Column, ...] = kept[_COLUMNS]
    return found


# ── outer joins ───────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Asked:
    """A result of outer joins: the rows that it has, and what it was asked.

    `lacking` are the combinations that had no partner, each with the input in which; `paired` are
    the times at which it first had one in each semi join.
    """

    found: Combination
    lacking: tuple[tuple[str, Combination], ...] = ()
    paired: tuple[int, ...] = ()


def outer_answer(
    query: Query, windows: Mapping[str, list[Row]], ends: Mapping[str, float], *, is_read: bool
) -> list[tuple[float, tuple[Value, ...]]]:
    """The results of outer joins with their times; streams that have not ended have come to their
    `ends`."""

    def together(found: Combination) -> bool:
        return all_alive(query, windows, found)

    rows = outer_combinations(query, windows, together)
    told = [each for each in rows if is_told(query, each, ends, is_read)]
    return [(time_of(query, each), result(query, each.found)) for each in told]


def is_told(query: Query, asked: Asked, ends: Mapping[str, float], is_read: bool) -> bool:
    """Whether a result is known: one join waits for its own nullable input; where there are
    several, or others read who has a partner, all streams must have passed the result's time."""
    assert query.outer is not None
    if not asked.lacking and not asked.paired:
        return True
    (join, *others) = query.outer.joins
    is_semi = join.kind == "semi" and not query.input(join.nullable).is_table
    if others or (is_semi and (len(query.inputs) > 2 or is_read)):
        return not ends or time_of(query, asked) < min(ends.values())
    return all(
        nullable not in ends or last_moment(query, found) < ends[nullable]
        for nullable, found in asked.lacking
    )


def time_of(query: Query, asked: Asked) -> float:
    """The time of a result: when its last row is there, each first partner of a semi join, and the
    end of every life in which a stream brought no partner; for a table nobody waits, nor for a
    partner that would have to equal a NULL."""
    ends: list[float] = []
    for nullable, found in asked.lacking:
        read = {alias for e in on_of(query, nullable).equalities for alias in e.streams}
        if not query.input(nullable).is_table and read <= {*found, nullable}:
            ends.append(last_moment(query, found))
    return max([last_of(query, asked.found)[0], *asked.paired, *ends])


def on_of(query: Query, nullable: str) -> OuterJoin:
    """The join in which an input is nullable; of a full join both are."""
    assert query.outer is not None
    joins = [join for join in query.outer.joins if join.nullable == nullable]
    return joins[0] if joins else query.outer.joins[0]


def outer_combinations(
    query: Query, windows: Mapping[str, list[Row]], together: Callable[[Combination], bool]
) -> Iterator[Asked]:
    """What outer joins give, before the outputs are computed, known or not: one join after another,
    each over what those before it gave. Which rows are `together` is up to the caller."""
    assert query.outer is not None
    core = combinations(query, windows, query.outer.core)
    given = [Asked(found) for found in core if together(found)]
    for join in query.outer.joins:
        given = [
            each for asked in given for each in asked_of(query, windows, together, join, asked)
        ]
        if join.kind == "full":
            given += alone_in_full(query, windows, together, join)
    return (asked for asked in given if holds_after(query, asked.found))


def asked_of(
    query: Query,
    windows: Mapping[str, list[Row]],
    together: Callable[[Combination], bool],
    join: OuterJoin,
    asked: Asked,
) -> list[Asked]:
    """What a join makes of one combination."""
    found = [p for p in pairs(query, windows, asked.found, join, join.nullable) if together(p)]
    lacking = replace(asked, lacking=(*asked.lacking, (join.nullable, asked.found)))
    if join.kind == "anti":
        return [] if found else [lacking]
    if join.kind == "semi":
        times = [last_of(query, pair)[0] for pair in found]
        return [replace(asked, paired=(*asked.paired, min(times)))] if found else []
    return [replace(asked, found=pair) for pair in found] or [lacking]


def alone_in_full(
    query: Query,
    windows: Mapping[str, list[Row]],
    together: Callable[[Combination], bool],
    join: OuterJoin,
) -> list[Asked]:
    """The rows of a full join's right side that have no partner in the left."""
    (left,) = join.preserved
    alone = []
    for row, _ in filtered(query, query.input(join.nullable), windows[join.nullable]):
        found = {join.nullable: row}
        if not any(together(pair) for pair in pairs(query, windows, found, join, left)):
            alone.append(Asked(found, ((left, found),)))
    return alone


def pairs(
    query: Query,
    windows: Mapping[str, list[Row]],
    found: Combination,
    join: OuterJoin,
    nullable: str,
) -> Iterator[Combination]:
    """A combination with each row of the nullable input for which ON is true."""
    for row, _ in filtered(query, query.input(nullable), windows[nullable]):
        pair = {**found, nullable: row}
        known = known_columns(query, pair)
        conditions = (*join.thetas, *join.alone)
        if all(equal(e, known) for e in join.equalities) and all(
            value_of(c.expression, known) is True for c in conditions
        ):
            yield pair


def holds_after(query: Query, found: Combination) -> bool:
    """Whether the conditions of WHERE on what may be NULL are true."""
    assert query.outer is not None
    known = known_columns(query, found)
    return all(value_of(c.expression, known) is True for c in query.outer.after)


def last_moment(query: Query, found: Combination) -> float:
    """The last time at which all rows of a combination are alive."""
    deaths = [death(query.input(alias).window, row.ts) for alias, row in found.items()]
    return min((time - 1 for time in deaths if time is not None), default=math.inf)


# ── views ─────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Change:
    """A group that is new or has changed, with its row; or one that is gone, with its last row."""

    time: int
    kind: Literal["upsert", "delete"]
    values: tuple[Value, ...]


Group = tuple[Value, ...]
Rows = dict[Group, tuple[Value, ...]]


def view_changes(query: Query, batches: Batches, drain: bool = True) -> list[Change]:
    """What each evaluation of a view changes, in the order of time and in no order within one.

    Where the input has not ended, an evaluation needs the frontier to be above all that it sees.
    """
    windows = {item.alias: in_time(item, batches[item.alias]) for item in query.inputs}
    return view_changes_until(query, windows, math.inf if drain else frontier(query, batches))


def view_changes_until(query: Query, windows: Mapping[str, list[Row]], end: float) -> list[Change]:
    """What each evaluation changes that sees nothing at the end or after it."""
    changes: list[Change] = []
    shown: Rows = {}
    for time in evaluations(query, windows):
        if moment(query, time) < end:
            now = view_at(query, windows, time)
            changes += differences(time, shown, now)
            shown = now
    return changes


def evaluations(query: Query, windows: Mapping[str, list[Row]]) -> list[int]:
    """The times at which the view is evaluated, but for those before which no window changes."""
    assert query.view is not None
    every = query.view.every
    found = set()
    for item in query.streams:
        for row in windows[item.alias]:
            for change in (row.ts, death(item.window, row.ts)):
                if change is not None:
                    time = -(-change // every) * every
                    found.add(time if change <= moment(query, time) else time + every)
    return sorted(found)


def death(window: Window | None, ts: int) -> int | None:
    """The first time at which a tuple is no longer alive, if time alone can end its life."""
    if not isinstance(window, TimeWindow) or window.extent is None:
        return None
    return ((ts + window.extent) // window.slide + 1) * window.slide


def moment(query: Query, time: int) -> int:
    """The time that an evaluation looks at: just before the end of a block, where there are any."""
    return time - 1 if query.is_tumbling else time


def view_at(query: Query, windows: Mapping[str, list[Row]], time: int) -> Rows:
    """The rows of the view at a time, by group, computed from nothing but the windows."""
    assert query.view is not None
    now = moment(query, time)
    here = (now, len(query.inputs), 0)
    present = {
        item.alias: [
            row
            for row in windows[item.alias]
            if item.is_table
            or (row.ts <= now and alive(query, item, windows[item.alias], row, here))
        ]
        for item in query.inputs
    }
    rows = (
        combinations(query, present)
        if query.outer is None
        else (each.found for each in outer_combinations(query, present, lambda found: True))
    )
    return view_rows(query.view, [joined_columns(query, found) for found in rows])


def view_rows(view: View, results: list[Columns]) -> Rows:
    """The rows of a view over some results of its join, by group."""
    groups: dict[Group, list[Columns]] = {} if view.groups else {(): []}
    for joined in results:
        key = tuple(same_nan(joined[column]) for column in view.groups)
        groups.setdefault(key, []).append(joined)
    known = {key: known_of_group(view, key, members) for key, members in groups.items()}
    if view.having is not None:
        held = view.having
        known = {key: columns for key, columns in known.items() if value_of(held, columns) is True}
    if view.top is not None:
        known = first_rows(view, view.top, list(known.values()))
    return {key: outputs_of(view, columns) for key, columns in known.items()}


def joined_columns(query: Query, found: Combination) -> Columns:
    """What the join gives of a combination, by column."""
    pairs = zip(query.outputs, result(query, found), strict=True)
    return {Column("", o.name, o.expression.type): value for o, value in pairs}


def known_of_group(view: View, group: Group, members: list[Columns]) -> Columns:
    """The groups and aggregates of the rows of one group."""
    known: Columns = dict(zip(view.groups, group, strict=True))
    return known | {each.column: aggregated(each, members) for each in view.aggregates}


def outputs_of(view: View, known: Columns) -> tuple[Value, ...]:
    """What the view says of a group."""
    return tuple(value_of(output.expression, known) for output in view.outputs)


# ── top-N ─────────────────────────────────────────────────────────────────────────────────────────


def first_rows(view: View, top: Top, rows: list[Columns]) -> dict[Group, Columns]:
    """The first rows of each part, with their numbers there, by what tells them apart.

    Tuples that are no groups are there as often as they are counted.
    """
    parts: dict[Group, list[Columns]] = {}
    for known in rows:
        part = tuple(same_nan(value_of(each, known)) for each in top.parts)
        copies = 1 if top.copies is None else known[top.copies]
        assert isinstance(copies, int)
        parts.setdefault(part, []).extend([known] * copies)
    found: dict[Group, Columns] = {}
    for members in parts.values():
        members.sort(key=cmp_to_key(partial(in_order, top.orders(view.groups))))
        for number, known in enumerate(members[: top.count], 1):
            row = {**known, NUMBER: number}
            found[tuple(same_nan(value_of(each, row)) for each in view.key)] = row
    return found


def in_order(orders: tuple[Order, ...], one: Columns, other: Columns) -> int:
    """−1 if the one row comes before the other, 1 if it comes after, 0 if nothing tells."""
    for order in orders:
        left, right = value_of(order.by, one), value_of(order.by, other)
        if left is None or right is None:
            way = (left is not None) - (right is not None)
            way = way if order.nulls_first else -way
        else:
            way = -compare(left, right) if order.descending else compare(left, right)
        if way:
            return way
    return 0


# ── aggregates ────────────────────────────────────────────────────────────────────────────────────


def aggregated(aggregate: Aggregate, members: list[Columns]) -> Value:
    """An aggregate over the rows of a group; NULLs do not count."""
    if aggregate.argument is None:
        return len(members)
    values: list[Any] = [row[aggregate.argument] for row in members]
    values = [value for value in values if value is not None]
    if aggregate.function.endswith("_distinct"):
        values = distinct(values)
    if aggregate.function in ("count", "count_distinct"):
        return len(values)
    if aggregate.function == "approx_count_distinct":
        return sketched(values, aggregate.argument.type)
    if not values:
        return None
    match aggregate.function:
        case "avg" | "avg_distinct" if isinstance(values[0], Decimal):
            return in_digits(sum(map(Fraction, values), Fraction()) / len(values), aggregate.type)
        case "sum" | "sum_distinct" if isinstance(values[0], Decimal):
            return in_digits(sum(map(Fraction, values), Fraction()), aggregate.type)
        case "sum" | "sum_distinct":
            return total(values)
        case "avg" | "avg_distinct":
            return float(total([float(value) for value in values])) / len(values)
        case "var_pop" | "var_samp":
            return variance(values, is_sample=aggregate.function == "var_samp")
        case "stddev_pop" | "stddev_samp":
            found = variance(values, is_sample=aggregate.function == "stddev_samp")
            return None if found is None else math.sqrt(found)
        case "approx_percentile":
            assert aggregate.fraction is not None
            rank = max(1, math.ceil(aggregate.fraction * len(values)))
            return cut(sorted(values, key=lambda value: (value != value, value))[rank - 1])
        case "min_by" | "max_by":
            return chosen(values, is_max=aggregate.function == "max_by")
    best: Value = values[0]
    for value in values[1:]:
        if compare(value, best) == (1 if aggregate.function == "max" else -1):
            best = value
    return best


def distinct(values: list[Any]) -> list[Any]:
    """Each value once: NaN is NaN, and 0.0 is -0.0."""
    return [
        value
        for place, value in enumerate(values)
        if all(compare(value, before) for before in values[:place])
    ]


def sketched(values: list[Any], type_: DataType) -> int:
    """The estimate of 2,048 HyperLogLog registers that have seen some values (Ertl 2017)."""
    size, most, ranks = 2048, 54, [0] * 2048
    for value in values:
        (hashed,) = hash_column(pa.array([value], arrow_type(type_)))
        bits = f"{int(hashed) % 2**64:064b}"
        register, rest = int(bits[:11], 2), bits[11:]
        ranks[register] = max(ranks[register], len(rest) - len(rest.lstrip("0")) + 1)
    share = 1.0 - ranks.count(most) / size
    weight = size * (0.0 if share in (0.0, 1.0) else limit(share, "tau") / 3.0)
    for rank in range(most - 1, 0, -1):
        weight = 0.5 * (weight + ranks.count(rank))
    empty = ranks.count(0) / size
    return (
        0
        if empty == 1.0
        else round(size * size / (2.0 * math.log(2.0)) / (weight + size * limit(empty, "sigma")))
    )


def limit(share: float, of: Literal["sigma", "tau"]) -> float:
    """The limits of Ertl's series σ and 3·τ."""
    y, before = 1.0, -1.0
    z = share if of == "sigma" else 1.0 - share
    while z != before:
        before = z
        if of == "sigma":
            share *= share
            z, y = z + share * y, y + y
        else:
            share, y = math.sqrt(share), 0.5 * y
            z -= (1.0 - share) ** 2 * y
    return z


def cut(value: float) -> float:
    """A number with seven bits behind the first, nearer to zero; of the least numbers fewer."""
    if not math.isfinite(value):
        return value
    (bits,) = struct.unpack("<q", struct.pack("<d", abs(value)))
    (least,) = struct.unpack("<d", struct.pack("<q", bits >> 45 << 45))
    return math.copysign(least, value)


def chosen(pairs: list[tuple[Value, Value]], *, is_max: bool) -> Value:
    """The value of the pair with the largest or least first part; of several, the largest."""
    best = pairs[0][0]
    for by, _ in pairs:
        if compare(by, best) == (1 if is_max else -1):
            best = by
    values = [value for by, value in pairs if compare(by, best) == 0 and value is not None]
    largest = values[0] if values else None
    for value in values:
        largest = value if compare(value, largest) > 0 else largest
    return largest


def variance(values: list[Any], *, is_sample: bool) -> float | None:
    """The variance, exact and rounded once; NULL of one value of a sample, NaN beside infinity."""
    if is_sample and len(values) == 1:
        return None
    if any(isinstance(value, float) and not math.isfinite(value) for value in values):
        return math.nan
    exact = [Fraction(value) for value in values]
    mean = sum(exact, Fraction()) / len(exact)
    squares = sum(((value - mean) ** 2 for value in exact), Fraction())
    try:
        return float(squares / (len(exact) - is_sample))
    except OverflowError:
        return math.inf


def in_digits(value: Fraction, type_: DataType) -> Value:
    """An exact number as a DECIMAL."""
    exact = to_decimal(value, type_)
    if exact is None:
        raise EvaluationError(f"overflow of {type_}")
    return exact


def total(values: list[Any]) -> int | float:
    """The sum: of whole numbers exact, of others rounded once."""
    if isinstance(values[0], int):
        whole: int = sum(values)
        if not -(1 << BITS[DataType.BIGINT] - 1) <= whole < 1 << BITS[DataType.BIGINT] - 1:
            raise EvaluationError("overflow in SUM")
        return whole
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):
        return float(sum(values))


def differences(time: int, before: Rows, now: Rows) -> list[Change]:
    """What has to be told to who knows the rows before."""
    return [
        *(Change(time, "upsert", now[g]) for g in now if not same(before.get(g), now[g])),
        *(Change(time, "delete", before[g]) for g in before if g not in now),
    ]


def same(one: tuple[Value, ...] | None, other: tuple[Value, ...]) -> bool:
    """Whether two rows are equal; NaN is NaN."""
    return one is not None and tuple(map(same_nan, one)) == tuple(map(same_nan, other))


def same_nan(value: Value) -> Value:
    """The value, but one and the same object for every NaN."""
    return math.nan if value != value else value
