"""The meaning of scripts, in plain loops: queries over the results of others, one after another.

Read it beside docs/language.md, under "Queries over queries". A result is a tuple of the stream
that its query makes, at its time; none is ever late. What a query may not know yet, because its
inputs have not ended, is above its frontier.
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from penstock.query import DataType, Field, Input, Query, Source
from penstock.query.expression import Value
from penstock.query.script import Member, Script
from penstock.query.view import CHANGE, TIME
from reference import Row, in_time, moment, outer_answer, timed_answer, view_changes_until

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_WORD = (1 << 64) - 1
_SEED, _M1, _M2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_NO_VALUE = 0x6E6F2076616C7565
_LONG_DIGITS = 18
_ALIKE = 1 << 20
"""More than there are results that are alike."""


@dataclass(frozen=True)
class Told:
    """A result of a query: when, its values, and of a view whether its row comes or goes."""

    time: int
    values: tuple[Value, ...]
    change: str | None = None


@dataclass(frozen=True)
class Made:
    """All results of a query so far; those that may still come are at the frontier or later."""

    results: tuple[Told, ...]
    frontier: float


Brought = Mapping[str, Sequence[Sequence[Row]]]
"""What each declared source brings in each batch; a table has one batch."""


def answer_script(script: Script, brought: Brought, drain: bool = True) -> dict[str, Made]:
    """The results of every query of a script, by its name."""
    made: dict[str, Made] = {}
    for member in script.members:
        is_read = any(member.name in other.reads for other in script.members)
        made[member.name] = _made(member, brought, made, drain, is_read)
    return made


def _made(
    member: Member, brought: Brought, made: Mapping[str, Made], drain: bool, is_read: bool
) -> Made:
    query = member.query
    windows = {item.alias: _tuples(item, brought, made) for item in query.inputs}
    end = min(_frontier(item, brought, made, drain) for item in query.streams)
    if query.outer is not None and query.view is None:
        ends = {i.alias: _frontier(i, brought, made, drain) for i in query.streams}
        results = outer_answer(query, windows, {} if drain else ends, is_read=is_read)
        return Made(tuple(_told(time, values) for time, values in results), end)
    if query.view is None:
        answered = timed_answer(query, windows, end)
        return Made(tuple(Told(time, values) for time, values in answered), end)
    changes = view_changes_until(query, windows, end)
    told = tuple(Told(each.time, each.values, each.kind) for each in changes)
    return Made(told, _next_tick(query, end))


def _told(time: float, values: tuple[Value, ...]) -> Told:
    """A result of an outer join; of a life without end nobody reads the time."""
    return Told(0 if math.isinf(time) else int(time), values)


def _tuples(item: Input, brought: Brought, made: Mapping[str, Made]) -> list[Row]:
    """The tuples of an input: those of a source that are not late, or the results of queries."""
    if item.source.format != "derived":
        return in_time(item, brought[item.source.name])
    told = [each for name in item.source.makers for each in made[name].results]
    if not item.is_relation:
        told = [each for each in told if each.change != "delete"]
    return told_apart([derived_row(item.source, each) for each in told])


def told_apart(rows: Sequence[Row]) -> list[Row]:
    """The rows, with arrival numbers that differ: of those that are alike, some is the first."""
    seen: Counter[tuple[int, int]] = Counter()
    found = []
    for row in rows:
        found.append(replace(row, arrival=row.arrival * _ALIKE + seen[row.ts, row.arrival]))
        seen[row.ts, row.arrival] += 1
    return found


def derived_row(source: Source, told: Told) -> Row:
    """A result as a tuple of the stream of results."""
    time = _EPOCH + timedelta(microseconds=told.time)
    more = (time,) if told.change is None else (time, told.change)
    names = [field.name for field in source.fields]
    assert names[len(told.values) :] == [TIME, CHANGE][: len(more)]
    values = dict(zip(names, (*told.values, *more), strict=True))
    return Row(told.time, arrival_number(source.fields, values), values)


def _frontier(item: Input, brought: Brought, made: Mapping[str, Made], drain: bool) -> float:
    """The time below which no further tuple of an input can come."""
    if drain:
        return math.inf
    if item.source.format == "derived":
        return min(made[name].frontier for name in item.source.makers)
    rows = (row.ts for batch in brought[item.source.name] for row in batch)
    return max(rows, default=-math.inf) - item.source.lateness


def _next_tick(query: Query, end: float) -> float:
    """The first evaluation of a view that has to wait: the one that sees the frontier."""
    assert query.view is not None
    if math.isinf(end):
        return end
    every = query.view.every
    time = -(-int(end) // every) * every
    return time if moment(query, time) >= end else time + every


# ── the order of results of one time ──────────────────────────────────────────────────────────────


def arrival_number(fields: Sequence[Field], values: Mapping[str, Value]) -> int:
    """A hash of all values of a result, by which it stands among those of its time.

    So the order depends on no plan, batch or partition; results with equal hashes are alike.
    """
    first, *rest = (_hash(field.type, values[field.name]) for field in fields)
    for each in rest:
        first = _scramble(first * _SEED + each)
    return first & (1 << 63) - 1


def _hash(type_: DataType, value: Value) -> int:
    match value:
        case None:
            return _NO_VALUE
        case str():
            return _hash_bytes(value.encode())
        case bytes():
            return _hash_bytes(value)
        case Decimal():
            low, high = _words(int(value.scaleb(type_.digits[1])))
            if type_.digits[0] <= _LONG_DIGITS:
                return _mix(low)
            return _scramble(_mix(low) * _SEED + _mix(high))
    return _mix(_bits(type_, value))


def _bits(type_: DataType, value: object) -> int:
    """The 64 bits of a number, a truth or a time; −0.0 is 0.0, and there is one NaN."""
    if type_ in (DataType.FLOAT, DataType.DOUBLE):
        assert isinstance(value, int | float)
        plain = math.nan if value != value else value + 0.0
        (bits,) = struct.unpack("<Q", struct.pack("<d", plain))
        return int(bits)
    if isinstance(value, datetime):
        zoned = value if value.tzinfo else value.replace(tzinfo=UTC)
        return (zoned - _EPOCH) // timedelta(microseconds=1) & _WORD
    if isinstance(value, date):
        return (value - _EPOCH.date()).days & _WORD
    assert isinstance(value, int)
    return value & _WORD


def _words(number: int) -> tuple[int, int]:
    return number & _WORD, number >> 64 & _WORD


def _hash_bytes(data: bytes) -> int:
    state, whole = _SEED ^ len(data), len(data) // 8 * 8
    for start in range(0, whole, 8):
        state = _scramble(state * _M1 + int.from_bytes(data[start : start + 8]))
    return _scramble(state * _M1 + int.from_bytes(data[whole:]))


def _mix(bits: int) -> int:
    return _scramble(bits + _SEED)


def _scramble(x: int) -> int:
    x &= _WORD
    x = (x ^ x >> 30) * _M1 & _WORD
    x = (x ^ x >> 27) * _M2 & _WORD
    return x ^ x >> 31
