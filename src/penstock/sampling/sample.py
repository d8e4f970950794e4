"""A sample of a source: its first tuples in arrival order, as many as rows and seconds allow."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

import pyarrow as pa

from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.rows.columns import TS
from penstock.engine.sources.files import list_files
from penstock.engine.sources.parsed import requested
from penstock.engine.sources.read_slice import Arrivals, read_slice
from penstock.engine.sources.slices import Slice
from penstock.engine.sources.synthetic import Synthetic
from penstock.plan.aggregation_sets import set_columns
from penstock.query import Query, Source
from penstock.query.expression import columns_of
from penstock.query.query import Input
from penstock.stats.training import operators_of

Progress = Callable[[str, int], None]

FEW_TEXTS = 32
"""A text column with more values than this is a name or a message, not a class of tuples."""

# More blocks than any sample reads.
_ENDLESS = 1 << 40


@dataclass(frozen=True)
class Sample:
    """Tuples of a source, with their event times as the column `#ts` unless it is a table.

    `count` is how many tuples there are, if `is_whole`, or were seen: those of a table are counted
    on when the sample is full. `malformed` rows and `unreadable` files were left out.
    """

    source: Source
    rows: pa.Table
    count: int
    is_whole: bool
    malformed: int = 0
    unreadable: int = 0


def take_samples(query: Query, rows: int, seconds: float, progress: Progress) -> dict[str, Sample]:
    """A sample of each source, by its name; Spark's own rate source cannot be sampled."""
    sources = [source for source in query.sources.values() if source.format != "rate"]
    end = time.monotonic() + seconds
    samples = {}
    for done, source in enumerate(sources):
        share = max(0.0, end - time.monotonic()) / (len(sources) - done)
        columns = _columns_read(query, source)
        samples[source.name] = _take(source, columns, rows, share, progress)
    return samples


def take_head(source: Source, columns: Collection[str], rows: int) -> pa.Table:
    """The first tuples of a source: so many, however long it takes."""
    names = tuple(field.name for field in requested(source, set(columns)))
    blocks: list[pa.RecordBatch] = []
    for arrivals in _arrivals(source, names):
        blocks.append(_with_times(source, names, arrivals))
        if sum(map(len, blocks)) >= rows:
            break
    return pa.Table.from_batches(blocks, _schema(source, names)).slice(0, rows)


def is_trained(query: Query, item: Input) -> bool:
    """Whether tuples of an input could take different routes: of one step there is one order.

    Views over ROWS windows are joined whole in each batch, and have no routes.
    """
    has_routes = not (query.is_sequenced and query.view is not None)
    return not item.is_table and has_routes and len(operators_of(query, item.alias)) > 1


def training_columns(query: Query, item: Input) -> tuple[str, ...]:
    """The columns of an input that training looks at: all that may choose a tuple's route, or
    those that predicates read, where there is no choice."""
    read = predicate_columns(query, item.alias)
    chooses = is_trained(query, item)
    names = [field.name for field in item.source.fields]
    return tuple(n for n in names if n in read or (chooses and n != item.source.timestamp))


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
        return tuple(field.name for field in source.fields)
    aliases = {item.alias for item in inputs}
    sets = [part for alias in aliases for part in set_columns(query, alias)]
    filters = [condition.expression for condition in query.filters]
    read = [column for expression in (*sets, *filters) for column in columns_of(expression)]
    names = {column.name for column in read if column.stream in aliases} | {source.timestamp}
    return tuple(field.name for field in requested(source, {n for n in names if n}))


def _take(
    source: Source, columns: tuple[str, ...], rows: int, seconds: float, progress: Progress
) -> Sample:
    end = time.monotonic() + seconds
    blocks: list[pa.RecordBatch] = []
    count, is_whole, malformed, unreadable = 0, True, 0, 0
    for arrivals in _arrivals(source, columns):
        if count < rows:
            blocks.append(_with_times(source, columns, arrivals))
        count += len(arrivals.rows)
        malformed += arrivals.malformed
        unreadable += arrivals.unreadable is not None
        progress(source.name, min(count, rows))
        is_over = time.monotonic() > end and count > 0
        if is_over or (count >= rows and not source.is_table):
            is_whole = False
            break
    table = pa.Table.from_batches(blocks, _schema(source, columns)).slice(0, rows)
    return Sample(source, table, count, is_whole, malformed, unreadable)


def _arrivals(source: Source, columns: tuple[str, ...]) -> Iterator[Arrivals]:
    for piece in _slices(source):
        yield from read_slice(source, columns, piece)


def _slices(source: Source) -> Iterator[Slice]:
    if source.format == "synthetic":
        yield Slice(source.name, last=Synthetic.of(source).blocks or _ENDLESS)
        return
    assert source.path is not None, "the parser has checked that there is one"
    for number, file in enumerate(list_files(source.path, source.places.get("path"))):
        yield Slice(source.name, file.path, number)


def _with_times(source: Source, columns: Collection[str], arrivals: Arrivals) -> pa.RecordBatch:
    rows = arrivals.rows.select(list(columns))
    return rows if source.is_table else rows.append_column(TS, pa.array(arrivals.times))


def _schema(source: Source, columns: Collection[str]) -> pa.Schema:
    types = {field.name: arrow_type(field.type) for field in source.fields}
    times = [] if source.is_table else [(TS, pa.int64())]
    return pa.schema([*((name, types[name]) for name in columns), *times])
