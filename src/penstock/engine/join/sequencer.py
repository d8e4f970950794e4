"""The sequencer: put tuples in their total order, number them, and work out ROWS lifetimes.

ROWS windows count the whole stream, so one task sees it all. Tuples wait here until the frontier
has passed them; those it passes get their number and the number at which they die. The tuples of
ROWS windows are kept here too and sent along with every batch, because each batch ends some lives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.engine.folding.fold import folded, with_lanes
from penstock.engine.join.batch import Batch
from penstock.engine.join.row_ends import tell_row_ends
from penstock.engine.routes.address import address
from penstock.engine.routes.rusters import with_routes
from penstock.engine.rows.columns import ARRIVAL, END, PASSES, ROUTE, SEQUENCE, TS, UNTIL
from penstock.engine.rows.layout import partition_by
from penstock.engine.rows.lifetimes import FOREVER
from penstock.engine.rows.sample_weights import with_samples
from penstock.engine.state.frontier import frontier_after
from penstock.engine.state.manifest import StreamState
from penstock.engine.state.modules import Module
from penstock.engine.state.store import read_rows
from penstock.engine.wire.chunks import keep_chunk
from penstock.engine.wire.exchange import placement, scatter
from penstock.engine.wire.facts import Numbered, readings
from penstock.engine.wire.packets import (
    Packet,
    pack_fact,
    sort_out,
    unpack_facts_for_steps,
    unpack_rows,
)
from penstock.engine.wire.tags import READ, Tag
from penstock.kernels.rows_lifetimes import ends_of
from penstock.query import RowsWindow
from penstock.query.query import Input


@dataclass(frozen=True)
class Sequencer:
    """The sequencing step of a batch.

    `streams` is how far the sources had come before it, `silent` are those that are passed;
    `drains` releases everything.
    """

    batch: Batch
    first_number: int
    streams: Mapping[str, StreamState]
    silent: frozenset[str]
    drains: bool

    def run(self, packets: Iterable[Packet]) -> Iterator[Packet]:
        """Numbered tuples for round 0, and facts about what is kept here."""
        facts, by_tag = sort_out(packets)
        yield from facts
        yield from by_tag.get(READ, ())
        frontier, joins = self._frontier(facts), self._joins(facts)
        waiting = {item.alias: self._waiting(item, by_tag) for item in self._inputs}
        released = {a: _split(rows, frontier) for a, rows in waiting.items() if rows is not None}
        numbered = self._number({a: now for a, (now, _) in released.items()})
        yield pack_fact(0, Numbered(sum(len(rows) for rows in numbered.values())))
        for item in self._inputs:
            later = released[item.alias][1] if item.alias in released else None
            yield from self._store(Module.pending(item.alias), later)
            yield from self._send(item, numbered.get(item.alias), joins)

    def _joins(self, facts: list[Packet]) -> bool:
        """Whether the tuples of ROWS windows are joined: those of a view where a tick is due."""
        due = self.batch.due
        if due is None or not self.batch.is_snapshot:
            return True
        return not due.span(readings(unpack_facts_for_steps(facts))).is_empty

    @property
    def _inputs(self) -> tuple[Input, ...]:
        return self.batch.layout.query.inputs

    def _frontier(self, facts: list[Packet]) -> int:
        """The event time that no source will go back behind after this batch."""
        if self.drains:
            return FOREVER
        sources = self.batch.layout.query.stream_sources.values()
        known = readings(unpack_facts_for_steps(facts))
        return frontier_after(sources, self.streams, known, self.silent)

    def _waiting(self, item: Input, by_tag: Mapping[Tag, list[Packet]]) -> pa.RecordBatch | None:
        layout, kept = self.batch.layout, _rows_of(self.batch, Module.pending(item.alias))
        if item.alias in layout.sampled:
            kept = [with_samples(rows, item.alias, ()) for rows in kept]
        rusters = self.batch.routing.rusters_of(item.alias)
        are_stamped = rusters is not None and rusters.stamp is not None
        kept = [with_routes(rows, are_stamped) for rows in kept]
        new = unpack_rows(by_tag.get(Tag("new", item.alias), ()))
        batches = kept + ([] if new is None else [new])
        return pa.concat_batches(batches) if batches else None

    def _number(self, released: Mapping[str, pa.RecordBatch]) -> dict[str, pa.RecordBatch]:
        """The released tuples, each stream in total order, with their numbers."""
        aliases = [a for a in self.batch.layout.query.aliases if a in released]
        if not aliases:
            return {}
        times = np.concatenate([released[a].column(TS).to_numpy() for a in aliases])
        arrivals = np.concatenate([released[a].column(ARRIVAL).to_numpy() for a in aliases])
        sizes = [len(released[a]) for a in aliases]
        streams = np.repeat(np.arange(len(aliases)), sizes)
        order = np.lexsort((arrivals, streams, times))
        numbers = np.empty(len(order), np.int64)
        numbers[order] = self.first_number + np.arange(len(order))
        out = {}
        for alias, mine in zip(aliases, np.split(numbers, np.cumsum(sizes)[:-1]), strict=True):
            rows = released[alias].append_column(SEQUENCE, pa.array(mine))
            rows = rows.take(pa.array(np.argsort(mine)))
            rusters = self.batch.routing.rusters_of(alias)
            out[alias] = rows if rusters is None else rusters.released(rows, self.first_number)
        return out

    def _send(self, item: Input, rows: pa.RecordBatch | None, joins: bool) -> Iterator[Packet]:
        if isinstance(item.window, RowsWindow):
            yield from self._send_rows(item, item.window, rows, joins)
        elif rows is not None and len(rows):
            ends = pa.array(np.full(len(rows), FOREVER))
            yield from self._addressed(item.alias, rows.append_column(END, ends))

    def _send_rows(
        self, item: Input, window: RowsWindow, rows: pa.RecordBatch | None, joins: bool
    ) -> Iterator[Packet]:
        """The window's old tuples with their ends so far, and the new ones, if anything `joins`."""
        old = ring_of(self.batch, item.alias)
        batches = old + ([] if rows is None else [with_routes(rows, False)])
        if not batches:
            return
        everything = pa.concat_batches(batches)
        sequence = everything.column(SEQUENCE).to_numpy()
        groups, count = _groups(item, everything)
        ends = ends_of(sequence, groups, count, window.count, FOREVER)
        alive = everything.filter(pa.array(ends == FOREVER))
        yield from self._store(Module.ring(item.alias), alive)
        if not joins:
            return
        everything = everything.append_column(END, pa.array(ends))
        if self.batch.is_snapshot:
            everything = everything.append_column(UNTIL, pa.array(_deaths(everything, ends)))
            is_new = np.ones(len(sequence), np.bool_)
        else:
            yield from tell_row_ends(self.batch, item.alias, everything)
            is_new = sequence >= self.first_number
        passing = everything.column(PASSES).to_numpy(zero_copy_only=False)
        yield from self._ring(item.alias, travelling(everything, passing & ~is_new))
        new = everything.filter(pa.array(is_new))
        if rows is not None and ROUTE in rows.schema.names:
            new = new.append_column(ROUTE, rows.column(ROUTE))
        yield from self._addressed(item.alias, travelling(new, passing[is_new]))

    def _ring(self, alias: str, rows: pa.RecordBatch) -> Iterator[Packet]:
        layout, partitions = self.batch.layout, self.batch.partitions
        if len(rows):
            for space in layout.spaces[alias]:
                places = placement(layout, space, rows, partitions)
                yield from scatter(rows, places, Tag("ring", alias), space * partitions, partitions)

    def _addressed(self, alias: str, rows: pa.RecordBatch) -> Iterator[Packet]:
        batch = self.batch
        if batch.is_snapshot:
            # A view goes by times alone.
            rows = with_lanes(batch.layout, alias, rows.drop_columns([ARRIVAL, SEQUENCE, END]))
            rows = folded(batch.layout, alias, rows, batch.open_tick)
        yield from address(batch.layout, batch.routing, batch.partitions, alias, rows)

    def _store(self, module: Module, rows: pa.RecordBatch | None) -> Iterator[Packet]:
        old = self.batch.chunks_of(module, 0)
        return keep_chunk(self.batch.root, module, 0, rows, replaces=old)


def ring_of(batch: Batch, alias: str) -> list[pa.RecordBatch]:
    """The tuples in a ROWS window before the batch, in their order."""
    return _rows_of(batch, Module.ring(alias))


def _rows_of(batch: Batch, module: Module) -> list[pa.RecordBatch]:
    return [read_rows(batch.root, info) for info in batch.chunks_of(module, 0)]


def _split(rows: pa.RecordBatch, frontier: int) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Rows that the frontier has passed, and rows that wait: at the frontier, more may come."""
    passed = rows.column(TS).to_numpy() < frontier
    return rows.filter(pa.array(passed)), rows.filter(pa.array(~passed))


def _deaths(rows: pa.RecordBatch, ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """The last times at which tuples are alive, whose ends are the numbers of others here."""
    times = rows.column(TS).to_numpy()
    places = np.searchsorted(rows.column(SEQUENCE).to_numpy(), ends)
    return np.where(ends == FOREVER, FOREVER, times[np.minimum(places, len(times) - 1)] - 1)


def _groups(item: Input, rows: pa.RecordBatch) -> tuple[NDArray[np.int64], int]:
    """The PARTITION BY group of each tuple; NULL is a group of its own."""
    columns = [f"{item.alias}.{name}" for name in partition_by(item)]
    if not columns or not len(rows):
        return np.zeros(len(rows), np.int64), 1
    codes = np.stack([_codes(rows.column(name)) for name in columns])
    _, groups = np.unique(codes, axis=1, return_inverse=True)
    return groups.reshape(-1).astype(np.int64), int(groups.max()) + 1


def _codes(column: pa.Array) -> NDArray[np.int64]:
    """Equal numbers for equal values; −0.0 is 0.0, and NaN and NULL are values of their own."""
    values = pc.add(column, 0.0) if pa.types.is_floating(column.type) else column
    encoded = pc.dictionary_encode(values, null_encoding="encode")
    codes: NDArray[np.int64] = encoded.indices.to_numpy(zero_copy_only=False)
    return codes.astype(np.int64)


def travelling(rows: pa.RecordBatch, mask: NDArray[np.bool_]) -> pa.RecordBatch:
    """Numbered tuples as they go to their partitions."""
    return rows.filter(pa.array(mask)).drop_columns([PASSES])
