"""The sequencer: put tuples in their total order, number them, and work out ROWS lifetimes.

ROWS windows count the whole stream, so one task sees it all. Tuples wait here until the frontier
has passed them; those it passes get their number and the number at which they die. The tuples of
ROWS windows are kept here too and sent along with every batch, because each batch ends some lives.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from penstock.engine.changes.change_log import ChangeLog
from penstock.engine.changes.changed_keys import ChangedKeys
from penstock.engine.changes.shed_times import Doubt, widened
from penstock.engine.changes.tracking import Rows, Tracked, Tracking
from penstock.engine.folding.fold import folded, with_lanes
from penstock.engine.join.batch import Batch
from penstock.engine.join.row_ends import tell_row_ends
from penstock.engine.routes.address import address
from penstock.engine.routes.rusters import with_routes
from penstock.engine.rows.columns import ARRIVAL, END, ROUTE, SEQUENCE, TS
from penstock.engine.rows.lifetimes import FOREVER
from penstock.engine.rows.ring import Ring, travelling
from penstock.engine.rows.sample_weights import with_samples
from penstock.engine.state.frontier import frontier_after
from penstock.engine.state.manifest import StreamState
from penstock.engine.state.modules import CHANGES, Module
from penstock.engine.state.store import read_rows
from penstock.engine.state.tick_span import TickSpan
from penstock.engine.wire.chunks import keep_chunk
from penstock.engine.wire.exchange import placement, scatter
from penstock.engine.wire.facts import ChangesTold, Numbered, readings
from penstock.engine.wire.packets import (
    Packet,
    pack_fact,
    sort_out,
    unpack_facts_for_steps,
    unpack_rows,
)
from penstock.engine.wire.tags import READ, Tag
from penstock.query import RowsWindow
from penstock.query.query import Input
from penstock.query.traces import trace_of


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
        frontier = self._frontier(facts)
        waiting = {item.alias: self._waiting(item, by_tag) for item in self._inputs}
        released = {a: _split(rows, frontier) for a, rows in waiting.items() if rows is not None}
        numbered = self._number({a: now for a, (now, _) in released.items()})
        yield pack_fact(0, Numbered(sum(len(rows) for rows in numbered.values())))
        rings = self._rings(numbered)
        for alias in self.batch.layout.query.aliases:
            later = released[alias][1] if alias in released else None
            yield from self._store(Module.pending(alias), later)
            if alias in rings:
                yield from self._store(Module.ring(alias), rings[alias].alive)
        if self.batch.due is not None:
            known = unpack_facts_for_steps(facts)
            span = self.batch.due.span(readings(known))
            doubt = Doubt.of(self.batch.layout, widened(self.batch.shed_times, known))
            yield from self._snapshot(numbered, rings, span, self._manner(span, doubt))
            return
        for alias in self.batch.layout.query.aliases:
            yield from self._send(alias, numbered.get(alias), rings.get(alias))

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
        streams = np.repeat(self._ranks(aliases), sizes)
        order = np.lexsort((arrivals, streams, times))
        numbers = np.empty(len(order), np.int64)
        numbers[order] = self.first_number + np.arange(len(order))
        out = {}
        bounds = np.cumsum([0, *sizes])
        for alias, first, last in zip(aliases, bounds, bounds[1:], strict=False):
            mine = order if len(aliases) == 1 else order[(order >= first) & (order < last)]
            rows = released[alias].take(pa.array(mine - first))
            rows = rows.append_column(SEQUENCE, pa.array(numbers[mine]))
            rusters = self.batch.routing.rusters_of(alias)
            out[alias] = rows if rusters is None else rusters.released(rows, self.first_number)
        return out

    def _ranks(self, aliases: list[str]) -> list[int]:
        """The order of inputs among tuples of one time: that of FROM, relations before all."""
        query = self.batch.layout.query
        ranked = sorted(aliases, key=lambda alias: not query.input(alias).is_relation)
        return [ranked.index(alias) for alias in aliases]

    def _rings(self, numbered: Mapping[str, pa.RecordBatch]) -> dict[str, Ring]:
        """The ROWS windows that hold anything, with what is new in them."""
        rings = {}
        for item in self._inputs:
            if isinstance(item.window, RowsWindow):
                new = numbered.get(item.alias)
                batches = ring_of(self.batch, item.alias)
                batches += [] if new is None else [with_routes(new, False)]
                if batches:
                    rings[item.alias] = Ring.of(item, pa.concat_batches(batches))
        return rings

    def _send(self, alias: str, rows: pa.RecordBatch | None, ring: Ring | None) -> Iterator[Packet]:
        """New tuples, and of a ROWS window the old ones with their ends so far."""
        if ring is not None:
            yield from self._send_ring(alias, rows, ring)
        elif rows is not None and len(rows):
            ends = pa.array(np.full(len(rows), FOREVER))
            yield from self._addressed(alias, rows.append_column(END, ends))

    def _send_ring(self, alias: str, rows: pa.RecordBatch | None, ring: Ring) -> Iterator[Packet]:
        everything, passing = ring.with_ends, ring.passing
        yield from tell_row_ends(self.batch, alias, everything)
        is_new = everything.column(SEQUENCE).to_numpy() >= self.first_number
        yield from self._ring(alias, travelling(everything, passing & ~is_new))
        new = everything.filter(pa.array(is_new))
        if rows is not None and ROUTE in rows.schema.names:
            new = new.append_column(ROUTE, rows.column(ROUTE))
        yield from self._addressed(alias, travelling(new, passing[is_new]))

    # Views

    def _snapshot(
        self,
        numbered: Mapping[str, pa.RecordBatch],
        rings: Mapping[str, Ring],
        span: TickSpan,
        manner: int,
    ) -> Iterator[Packet]:
        """What a view is computed from: new tuples that are kept elsewhere, and where a tick is due
        those of ROWS windows that may be in a group that has changed."""
        windows = {alias: ring.with_deaths for alias, ring in rings.items()}
        others = {alias: rows for alias, rows in numbered.items() if alias not in rings}
        tracked = self._tracked(windows, others, span, manner)
        yield from self._store(CHANGES, None if tracked.log is None else tracked.log.rows)
        for alias, rows in others.items():
            yield from self._folded(alias, rows)
        if span.is_empty:
            return
        yield from self._tell(tracked.changed)
        changed = tracked.changed
        for alias, rows in windows.items():
            if changed is not None:
                rows = rows.filter(pa.array(changed.of_tuples(alias, rows)))
            yield from self._folded(alias, rows)

    def _tracked(self, windows: Rows, released: Rows, span: TickSpan, manner: int) -> Tracked:
        layout, trace = self.batch.layout, trace_of(self.batch.layout.query)
        assert layout.ticks is not None, "only a view is tracked"
        log = self._log(manner)
        if trace is None or log is None:
            return Tracked()
        query, number = layout.query, self.first_number
        return Tracking(query, trace, layout.ticks, windows, released, number, manner).tracked(
            log, span
        )

    def _manner(self, span: TickSpan, doubt: Doubt) -> int:
        """A number for what decides how groups are shown: whether as estimates, and of what, the
        versions of tables, and where tuples were shed."""
        layout, renewed = self.batch.layout, self.batch.renewed
        since: tuple[object, ...] = () if renewed is None else (renewed,)
        if doubt.at(np.array([span.last]))[0] or len(doubt.edges(span)):
            since = (*since, "doubt", *doubt.edges(span).tolist())
        return zlib.crc32(repr((layout.is_estimate, sorted(layout.sampled), *since)).encode())

    def _log(self, manner: int) -> ChangeLog | None:
        """The change log, if it has been kept from the first tuple on."""
        rows = _rows_of(self.batch, CHANGES)
        if rows:
            return ChangeLog(rows[0])
        return ChangeLog.begun(manner) if self.first_number == 0 else None

    def _tell(self, changed: ChangedKeys | None) -> Iterator[Packet]:
        """Tell all partitions that a tick is due, and what has changed."""
        layout, partitions = self.batch.layout, self.batch.partitions
        fact = ChangesTold(None) if changed is None else changed.told(self.batch.root)
        homes = {space for spaces in layout.spaces.values() for space in spaces}
        for space in sorted({layout.view_space, *homes, *self.batch.routing.spaces}):
            base = space * partitions
            yield from (pack_fact(base + p, fact) for p in range(partitions))

    def _folded(self, alias: str, rows: pa.RecordBatch) -> Iterator[Packet]:
        """Tuples as a view takes them: by times alone, and folded if they are early."""
        if not len(rows):
            return
        layout, numbers = self.batch.layout, (ARRIVAL, SEQUENCE)
        rows = rows.select([name for name in rows.schema.names if name not in numbers])
        rows = with_lanes(layout, alias, rows)
        yield from self._addressed(alias, folded(layout, alias, rows, self.batch.open_tick))

    # Sending

    def _ring(self, alias: str, rows: pa.RecordBatch) -> Iterator[Packet]:
        layout, partitions = self.batch.layout, self.batch.partitions
        if len(rows):
            for space in layout.spaces[alias]:
                places = placement(layout, space, rows, partitions)
                yield from scatter(rows, places, Tag("ring", alias), space * partitions, partitions)

    def _addressed(self, alias: str, rows: pa.RecordBatch) -> Iterator[Packet]:
        batch = self.batch
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
