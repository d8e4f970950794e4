"""Join: carry partial results through the visits of a leg, in slices of bounded size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.expressions.evaluate import holds
from penstock.engine.join.reach import Reach, alive_since_all
from penstock.engine.routes.meter import Gauge, Meter
from penstock.engine.routes.multiway_routes import Visit
from penstock.engine.rows.columns import (
    END,
    SEQUENCE,
    TS,
    UNTIL,
    column_name,
    hash_name,
    is_control,
    is_time_name,
    number_name,
    time_name,
)
from penstock.engine.rows.lifetimes import alive_until
from penstock.engine.rows.references import put_together, resolved, taken
from penstock.engine.state.store import Chunk
from penstock.kernels.ranges import expand, find_ranges
from penstock.kernels.sorting import hash_order
from penstock.query import Condition, Input, RowsWindow
from penstock.query.expression import columns_of

Int64s = NDArray[np.int64]

# Rows of a partial result that are in memory at once, for each visit of a leg: one hot key can turn
# hundreds of tuples into millions of results.
SLICE = 1 << 16

# Rows of state for each combination from which on sorting these costs less than it saves.
_FAR_MORE = 4


@dataclass(frozen=True)
class Partial:
    """Combinations of tuples that may become results.

    Of the members' times it carries only the last one's (`#ts`) and the earliest time at which
    one of them dies (`#until`); with ROWS windows also the last member's number (`#seq`) and the
    number at which the first member dies (`#end`). `control` has these and the hashes still needed;
    complete results need none of them. As rows it can be kept as state, like tuples.
    """

    size: int
    control: dict[str, Int64s]
    payload: pa.RecordBatch

    def __len__(self) -> int:
        return self.size

    def take(self, rows: Int64s) -> Partial:
        """The combinations at the given places."""
        control = {name: values[rows] for name, values in self.control.items()}
        return Partial(len(rows), control, taken(self.payload, rows))

    def to_rows(self) -> pa.RecordBatch:
        """As one batch, to travel or to be kept; columns in the same order, whoever found them."""
        columns = {name: pa.array(values) for name, values in self.control.items()}
        values = map(resolved, self.payload.columns)
        columns |= dict(zip(self.payload.schema.names, values, strict=True))
        return pa.RecordBatch.from_pydict(dict(sorted(columns.items())))

    @classmethod
    def from_rows(cls, rows: pa.RecordBatch) -> Partial:
        """The combinations that `to_rows` made into rows."""
        control = [name for name in rows.schema.names if is_control(name)]
        payload = [name for name in rows.schema.names if not is_control(name)]
        values = {name: rows.column(name).to_numpy() for name in control}
        return cls(len(rows), values, rows.select(payload))


Tap = Callable[[Partial], None]
"""Is given combinations that are on their way."""


def start(rows: pa.RecordBatch, item: Input, *, is_timed: bool = False) -> Partial:
    """New tuples of an input as combinations of one, whose own times travel if it `is_timed`."""
    control = {n: rows.column(n).to_numpy() for n in rows.schema.names if is_control(n)}
    if UNTIL not in control:
        control[UNTIL] = alive_until(item.window, control[TS])
    if SEQUENCE in control and isinstance(item.window, RowsWindow):
        control[number_name(item.alias)] = control[SEQUENCE]
    if is_timed:
        control[time_name(item.alias)] = control[TS]
    payload = rows.select([n for n in rows.schema.names if not is_control(n)])
    return Partial(len(rows), control, payload)


@dataclass(frozen=True)
class Join:
    """The visits of one leg over the state of one partition.

    `reach` says what a visit could find by time alone; None where that tells nothing. Of a leg
    whose tuples are at all partitions, one partition `counts_arrivals`. `taps` are given what has
    come through a visit, by its number: other queries may want that.
    """

    visits: tuple[Visit, ...]
    state: Callable[[Visit], Sequence[Chunk]]
    meter: Meter = field(default_factory=Meter)
    reach: Callable[[Visit], Reach | None] = lambda visit: None
    counts_arrivals: bool = True
    taps: Mapping[int, Tap] = field(default_factory=dict)

    def run(self, partial: Partial) -> Iterator[Partial]:
        """Combinations that are left after all visits, in slices."""
        if not self.visits:
            yield partial
        elif len(partial):
            yield from self._visit(0, _sorted_by_key(partial, self.visits[0]))

    def _visit(self, number: int, partial: Partial) -> Iterator[Partial]:
        visit = self.visits[number]
        gauge = self.meter.at(visit.target, is_probe=True)
        gauge.went_in += len(partial) if number or self.counts_arrivals else 0
        started = perf_counter()
        chunks, reach = self.state(visit), self.reach(visit)
        if reach is not None:
            gauge.met = (gauge.met or 0.0) + reach.met(visit.windows, partial.control)
        gauge.seconds += perf_counter() - started
        found: Iterator[Partial] = (
            p for chunk in chunks for p in self._probe(visit, gauge, partial, chunk)
        )
        if number in self.taps:
            found = _tapped(gathered(found), self.taps[number])
        if number == len(self.visits) - 1:
            yield from found
        else:
            for piece in gathered(found):
                yield from self._visit(number + 1, self._in_order(piece, self.visits[number + 1]))

    def _in_order(self, piece: Partial, visit: Visit) -> Partial:
        """Combinations as a visit finds their partners soonest: by their hashes, if it looks into
        far more rows than these. They come chunk by chunk, and every chunk would be walked
        through anew for what each has found."""
        rows = sum(len(chunk.times) for chunk in self.state(visit))
        return _sorted_by_key(piece, visit) if rows > _FAR_MORE * len(piece) else piece

    def _probe(
        self, visit: Visit, gauge: Gauge, partial: Partial, chunk: Chunk
    ) -> Iterator[Partial]:
        started = perf_counter()
        earliest = alive_since_all(visit.windows, partial.control[TS])
        if chunk.longest is not None:
            earliest = np.maximum(earliest, partial.control[TS] - chunk.longest)
        hashes = (
            np.zeros(len(partial), np.int64)
            if visit.key is None
            else partial.control[hash_name(visit.key)]
        )
        starts, counts = find_ranges(
            hashes, earliest, partial.control[UNTIL], chunk.hashes, chunk.times
        )
        ends = np.cumsum(counts)
        total = int(ends[-1])
        gauge.seconds += perf_counter() - started
        for first in range(0, total, SLICE):
            started = perf_counter()
            last = min(first + SLICE, total)
            ours, theirs = expand(starts, counts, ends, first, last)
            found = self._extend(visit, partial, chunk, ours, theirs)
            gauge.came_out += len(found)
            gauge.seconds += perf_counter() - started
            found = self._checked(visit, gauge, found)
            if len(found):
                yield found

    def _extend(
        self, visit: Visit, partial: Partial, chunk: Chunk, ours: Int64s, theirs: Int64s
    ) -> Partial:
        """Combinations of both sides that have equal keys and are alive together."""
        for key in visit.also:
            same = partial.control[hash_name(key)][ours] == _control(chunk, hash_name(key))[theirs]
            ours, theirs = ours[same], theirs[same]
        if UNTIL in chunk.rows.schema.names:
            alive = _control(chunk, UNTIL)[theirs] >= partial.control[TS][ours]
            ours, theirs = ours[alive], theirs[alive]
        if visit.outlives is not None:
            until = alive_until(visit.windows[0], chunk.times[theirs])
            first = partial.control[UNTIL][ours]
            lasts = until > first if visit.outlives == "longer" else until >= first
            ours, theirs = ours[lasts], theirs[lasts]
        if visit.precedes is not None:
            times, last = chunk.times[theirs], partial.control[TS][ours]
            comes = times < last if visit.precedes == "earlier" else times <= last
            ours, theirs = ours[comes], theirs[comes]
        numbers = {}
        if SEQUENCE in partial.control:
            latest = np.maximum(partial.control[SEQUENCE][ours], _control(chunk, SEQUENCE)[theirs])
            end = np.minimum(partial.control[END][ours], _control(chunk, END)[theirs])
            alive = latest < end
            ours, theirs = ours[alive], theirs[alive]
            numbers = {SEQUENCE: latest[alive], END: end[alive]}
        control = (
            {} if visit.is_final else numbers | self._bounds(visit, partial, chunk, ours, theirs)
        )
        payload = self._payload(visit, partial, chunk, ours, theirs)
        return Partial(len(ours), control, payload)

    def _bounds(
        self, visit: Visit, partial: Partial, chunk: Chunk, ours: Int64s, theirs: Int64s
    ) -> dict[str, Int64s]:
        """The times and hashes that later visits need."""
        times = chunk.times[theirs]
        is_inner = UNTIL in chunk.rows.schema.names
        until = _control(chunk, UNTIL)[theirs] if is_inner else alive_until(visit.windows[0], times)
        bounds = {
            TS: np.maximum(partial.control[TS][ours], times),
            UNTIL: np.minimum(partial.control[UNTIL][ours], until),
        }
        for name in visit.keep:
            if name in partial.control:
                bounds[name] = partial.control[name][ours]
            elif is_control(name):
                bounds[name] = _of_member(chunk, name)[theirs]
        return bounds

    def _payload(
        self, visit: Visit, partial: Partial, chunk: Chunk, ours: Int64s, theirs: Int64s
    ) -> pa.RecordBatch:
        decided = (*visit.checks, *visit.screens)
        read = [c for check in decided for c in columns_of(check.expression)]
        wanted = visit.keep | {column_name(column) for column in read}
        mine = [name for name in partial.payload.schema.names if name in wanted]
        other = [n for n in chunk.rows.schema.names if n in wanted and not is_control(n)]
        left = taken(partial.payload.select(mine), ours)
        right = taken(chunk.rows.select(other), theirs)
        return pa.RecordBatch.from_arrays(left.columns + right.columns, names=mine + other)

    def _checked(self, visit: Visit, gauge: Gauge, found: Partial) -> Partial:
        """Those that meet the conditions which can be decided now, and the filters that come next;
        with the columns that are still needed."""
        for check in visit.checks:
            found = self._filtered(check, found)
        gauge.passed += len(found)
        for screen in visit.screens:
            found = self._filtered(screen, found)
        needed = [name for name in found.payload.schema.names if name in visit.keep]
        return replace(found, payload=found.payload.select(needed))

    def _filtered(self, condition: Condition, found: Partial) -> Partial:
        started = perf_counter()
        left = where(condition, found)
        gauge = self.meter.at(str(condition), is_probe=False)
        gauge.filtered(len(found), len(left), perf_counter() - started)
        return left


def _tapped(pieces: Iterable[Partial], tap: Tap) -> Iterator[Partial]:
    """The same pieces, each of which somebody else has seen."""
    for piece in pieces:
        tap(piece)
        yield piece


def where(check: Condition, found: Partial) -> Partial:
    """The combinations for which a condition is true."""
    if not len(found):
        return found
    kept = holds(check.expression, found.payload, column_name).to_numpy(zero_copy_only=False)
    return found if kept.all() else found.take(np.flatnonzero(kept))


def by_time(chunk: Chunk) -> Chunk:
    """A chunk sorted by time alone, for probes that have no key."""
    order = np.argsort(chunk.times, kind="stable")
    return Chunk.of(chunk.rows.take(pa.array(order)), None)


def _control(chunk: Chunk, name: str) -> Int64s:
    values: Int64s = chunk.rows.column(name).to_numpy()
    return values


def _of_member(chunk: Chunk, name: str) -> Int64s:
    """Numbers or times of one member. That of a tuple is itself: its number is the tuple's."""
    if name in chunk.rows.schema.names:
        return _control(chunk, name)
    return chunk.times if is_time_name(name) else _control(chunk, SEQUENCE)


def _sorted_by_key(partial: Partial, visit: Visit) -> Partial:
    if visit.key is None:
        return partial
    hashes = partial.control[hash_name(visit.key)]
    if np.all(hashes[1:] >= hashes[:-1]):
        return partial
    return partial.take(hash_order(hashes))


def gathered(pieces: Iterable[Partial]) -> Iterator[Partial]:
    """Pieces put together into slices, so that the next visit is not made for each alone."""
    held: list[Partial] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= SLICE:
            yield _concat(held)
            held, size = [], 0
    if held:
        yield _concat(held)


def _concat(pieces: list[Partial]) -> Partial:
    if len(pieces) == 1:
        return pieces[0]
    control = {n: np.concatenate([p.control[n] for p in pieces]) for n in pieces[0].control}
    payload = put_together([p.payload for p in pieces])
    return Partial(sum(len(p) for p in pieces), control, payload)
