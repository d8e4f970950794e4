"""A sample of a source: strips that are spread over all of it, as many tuples as are asked for.

What is read is bounded by rows, not by the clock: the same data gives the same sample.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.rows.columns import TS
from penstock.engine.sources.feed import clock_now
from penstock.engine.sources.parsed import requested
from penstock.engine.sources.read_slice import Arrivals, read_slice
from penstock.plan.aggregation_sets import set_columns
from penstock.query import Query, Source
from penstock.query.expression import columns_of
from penstock.query.query import Input
from penstock.sampling.strips import Strip, strips_of, whole
from penstock.stats.training import operators_of

Progress = Callable[[str, int], None]

FEW_TEXTS = 32
"""A text column with more values than this is a name or a message, not a class of tuples."""

_SEED = 1
_COUNTED = 1_000
"""How many times the sample's rows are counted of a table that is larger still."""


@dataclass(frozen=True)
class Span:
    """The first and last event time of a strip, microseconds, and its tuples."""

    first: int
    last: int
    count: int


@dataclass(frozen=True)
class Sample:
    """Tuples of a source, with their event times as the column `#ts` unless it is a table.

    `count` is how many tuples there are, if `is_whole`, or were seen: those of a table are counted
    on when the sample is full. `malformed` rows and `unreadable` files were left out. `spans` are
    the times of the strips that it is made of.
    """

    source: Source
    rows: pa.Table
    count: int
    is_whole: bool
    malformed: int = 0
    unreadable: int = 0
    spans: tuple[Span, ...] = ()


def take_samples(query: Query, rows: int, progress: Progress) -> dict[str, Sample]:
    """A sample of each source, by its name; what comes through Spark cannot be sampled."""
    return {
        source.name: _take(source, _columns_read(query, source), rows, progress)
        for source in query.sources.values()
        if not source.is_of_spark
    }


def take_head(source: Source, columns: Collection[str], rows: int) -> pa.Table:
    """The first tuples of a source: so many, however long it takes."""
    names = tuple(field.name for field in requested(source, set(columns)))
    blocks: list[pa.RecordBatch] = []
    for arrivals in _arrivals(source, names, whole(source)):
        blocks.append(_with_times(source, names, arrivals))
        if sum(map(len, blocks)) >= rows:
            break
    return pa.Table.from_batches(blocks, _schema(source, names)).slice(0, rows)


def is_trained(query: Query, item: Input) -> bool:
    """Whether tuples of an input could take different routes: of one step there is one order.

    Views over ROWS windows are joined anew in each batch, and have no routes.
    """
    has_routes = not (query.is_sequenced and query.view is not None)
    return not item.is_table and has_routes and len(operators_of(query, item.alias)) > 1


def training_columns(query: Query, item: Input) -> tuple[str, ...]:
    """The columns of an input that training looks at: all that may choose a tuple's route, or
    those that predicates read, where there is no choice."""
    read = predicate_columns(query, item.alias)
    chooses = is_trained(query, item)
    names = [field.name for field in item.source.fields]
    telling = {name for name in item.source.telling if name != item.source.timestamp}
    return tuple(n for n in names if n in read or (chooses and n in telling))


def predicate_columns(query: Query, alias: str) -> frozenset[str]:
    """The columns of an input that predicates read."""
    conditions = [each.expression for each in (*query.filters, *query.thetas)]
    sides = [side for each in query.equalities for side in (each.left, each.right)]
    read = {column for each in (*conditions, *sides) for column in columns_of(each)}
    return frozenset(column.name for column in read if column.stream == alias)


def _columns_read(query: Query, source: Source) -> tuple[str, ...]:
    """The columns that predicates and aggregation sets read, and the event time.

    All are read where any may choose a tuple's route.
    """
    inputs = query.reading(source.name)
    if any(is_trained(query, item) for item in inputs):
        read = {name for item in inputs for name in predicate_columns(query, item.alias)}
        wanted = read | {*source.telling, source.timestamp}
        return tuple(field.name for field in source.fields if field.name in wanted)
    aliases = {item.alias for item in inputs}
    sets = [part for alias in aliases for part in set_columns(query, alias)]
    filters = [condition.expression for condition in query.filters]
    columns = [column for expression in (*sets, *filters) for column in columns_of(expression)]
    names = {column.name for column in columns if column.stream in aliases} | {source.timestamp}
    return tuple(field.name for field in requested(source, {n for n in names if n}))


def _take(source: Source, columns: tuple[str, ...], rows: int, progress: Progress) -> Sample:
    """All of a source, if that is no more than so many rows; else strips of it, or of a table
    tuples by chance."""
    if source.is_table:
        return _take_table(source, columns, rows, progress)
    head = _Reading(source, columns, rows, progress)
    head.read(whole(source), rows + 1)
    if head.count <= rows:
        return head.sample(is_whole=True)
    strips = strips_of(source, rows)
    if len(strips) == 1:
        return head.cut(rows)
    size = rows // len(strips)
    found = _Reading(source, columns, rows, lambda name, count: progress(name, rows))
    found.take(head, size)
    for number, strip in enumerate(strips[1:], start=1):
        found.read(strip, rows * (number + 1) // len(strips) - found.count)
    return found.sample(is_whole=False)


def _take_table(source: Source, columns: tuple[str, ...], rows: int, progress: Progress) -> Sample:
    """Rows of a table by chance, in their order: more and more sparsely, the more there are.

    It is read to its end, to be counted, but for the largest.
    """
    blocks: list[pa.RecordBatch] = []
    lots: list[NDArray[np.float64]] = []
    count, malformed, unreadable, part = 0, 0, 0, 1.0
    for arrivals in _arrivals(source, columns, whole(source)):
        lot = np.random.default_rng((_SEED, count)).random(len(arrivals.rows))
        blocks.append(arrivals.rows.select(list(columns)).filter(pa.array(lot < part)))
        lots.append(lot[lot < part])
        count += len(lot)
        malformed += arrivals.malformed
        unreadable += arrivals.unreadable is not None
        while sum(map(len, lots)) > rows:
            part /= 2
            kept = [lot < part for lot in lots]
            blocks = [b.filter(pa.array(k)) for b, k in zip(blocks, kept, strict=True)]
            lots = [lot[k] for lot, k in zip(lots, kept, strict=True)]
        progress(source.name, min(count, rows))
        if count >= _COUNTED * rows:
            break
    else:
        table = pa.Table.from_batches(blocks, _schema(source, columns))
        return Sample(source, table, count, True, malformed, unreadable)
    table = pa.Table.from_batches(blocks, _schema(source, columns))
    return Sample(source, table, count, False, malformed, unreadable)


@dataclass
class _Reading:
    """What was read of a stream so far, strip by strip."""

    source: Source
    columns: tuple[str, ...]
    rows: int
    progress: Progress
    strips: list[list[pa.RecordBatch]] = field(default_factory=list)
    count: int = 0
    malformed: int = 0
    unreadable: int = 0

    def read(self, strip: Strip, wanted: int) -> None:
        """Add so many rows of a strip, or as many as there are."""
        blocks: list[pa.RecordBatch] = []
        left, skip = wanted, strip.skip
        for arrivals in _arrivals(self.source, self.columns, strip) if wanted > 0 else ():
            rows = _with_times(self.source, self.columns, arrivals)
            mine = rows.slice(min(skip, len(rows)), left)
            skip = max(0, skip - len(rows))
            blocks.append(mine)
            left -= len(mine)
            self.count += len(mine)
            self.malformed += arrivals.malformed
            self.unreadable += arrivals.unreadable is not None
            self.progress(self.source.name, min(self.count, self.rows))
            if left <= 0:
                break
        self.strips.append(blocks)

    def take(self, other: _Reading, rows: int) -> None:
        """Add the first rows of what another has read."""
        table = pa.Table.from_batches(other.strips[0]).slice(0, rows)
        self.strips.append(table.to_batches())
        self.count += len(table)
        self.malformed, self.unreadable = other.malformed, other.unreadable

    def cut(self, rows: int) -> Sample:
        """The sample of the first so many rows."""
        found = replace(self, strips=[], count=0)
        found.take(self, rows)
        return found.sample(is_whole=False)

    def sample(self, *, is_whole: bool) -> Sample:
        """All of it."""
        schema = _schema(self.source, self.columns)
        blocks = [block for blocks in self.strips for block in blocks]
        spans = [_span(blocks) for blocks in self.strips if sum(map(len, blocks))]
        return Sample(
            self.source,
            pa.Table.from_batches(blocks, schema),
            self.count,
            is_whole,
            self.malformed,
            self.unreadable,
            tuple(spans),
        )


def _span(blocks: list[pa.RecordBatch]) -> Span:
    """The first and last event time of a strip, and its tuples."""
    times = np.concatenate([block.column(TS).to_numpy() for block in blocks])
    return Span(int(times.min()), int(times.max()), len(times))


def _arrivals(source: Source, columns: tuple[str, ...], strip: Strip) -> Iterator[Arrivals]:
    for piece in strip.slices:
        latest = source.latest(clock_now())
        yield from read_slice(source, columns, replace(piece, latest=latest))


def _with_times(source: Source, columns: Collection[str], arrivals: Arrivals) -> pa.RecordBatch:
    rows = arrivals.rows.select(list(columns))
    return rows if source.is_table else rows.append_column(TS, pa.array(arrivals.times))


def _schema(source: Source, columns: Collection[str]) -> pa.Schema:
    types = {f.name: arrow_type(f.type) for f in source.fields if f.name in columns}
    times = [] if source.is_table else [(TS, pa.int64())]
    return pa.schema([*((name, types[name]) for name in columns), *times])
