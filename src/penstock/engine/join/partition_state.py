"""Partition state: the chunks that one partition has during one round of a batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.folding.fold import folded, with_lanes
from penstock.engine.folding.segments import segments
from penstock.engine.join.batch import Batch
from penstock.engine.join.legs import by_time
from penstock.engine.join.row_ends import DEAD, KnownEnds
from penstock.engine.places.place import Place
from penstock.engine.routes.multiway_routes import Route, Visit
from penstock.engine.rows.accumulators import fold
from penstock.engine.rows.columns import ARRIVAL, END, ROUTE, SEQUENCE, TS, UNTIL, hash_name
from penstock.engine.rows.lifetimes import FOREVER, oldest_alive
from penstock.engine.state.modules import Module
from penstock.engine.state.store import Chunk, ChunkInfo, open_chunk
from penstock.engine.state.tick_span import TickSpan
from penstock.engine.wire.chunks import keep_chunk, pass_chunk
from penstock.engine.wire.facts import Fact, KeptChunk, PassingChunk
from penstock.engine.wire.packets import Packet, unpack_rows
from penstock.engine.wire.tags import Tag
from penstock.kernels.sorting import state_order

Tags = Mapping[Tag, list[Packet]]

# The part of what is kept of a view's windows that may have died. Chunks expire as a whole, and one
# of many batches is large; each time that so much has died, what is left is written once more.
_DEAD = 1 / 16


@dataclass
class PartitionState:
    """Chunks by input or inner join: `fresh` ones are of this batch, `older` ones from before.

    `whole` inputs have both, where all is new. `rusters` has the numbers of new tuples' rusters, in
    the order of their chunk; they are not kept. `reached` is how far streams have come for sure, by
    what of them is new here. `span` are the ticks of a view that the batch evaluates.
    """

    batch: Batch
    pid: int
    known_ends: KnownEnds
    span: TickSpan | None = None
    fresh: dict[str, list[Chunk]] = field(default_factory=dict)
    older: dict[str, list[Chunk]] = field(default_factory=dict)
    whole: dict[str, list[Chunk]] = field(default_factory=dict)
    scans: dict[int, Chunk] = field(default_factory=dict)
    rusters: dict[str, NDArray[np.int16]] = field(default_factory=dict)
    reached: dict[str, int] = field(default_factory=dict)

    @property
    def space(self) -> int:
        return self.pid // self.batch.partitions

    @property
    def key(self) -> int | None:
        return self.space if self.space < len(self.batch.layout.keys) else None

    # Filling

    def take_inputs(self, by_tag: Tags) -> Iterator[Packet]:
        """Keep the new tuples of every input that has a module here."""
        here = [alias for alias, spaces in self.batch.layout.spaces.items() if self.space in spaces]
        arrived = {alias: unpack_rows(by_tag.get(Tag("new", alias), ())) for alias in here}
        self.reached = {
            a: self._reached(a, rows) for a, rows in arrived.items() if rows is not None
        }
        for alias, rows in arrived.items():
            ring = unpack_rows(by_tag.get(Tag("ring", alias), ()))
            if ring is not None:
                self.older[alias] = [_in_state_order(ring, self.key)]
            yield from self.take(alias, rows)

    def take_inners(self, round_: int, by_tag: Tags) -> Iterator[Packet]:
        """Keep the inner results that were sent here by the round before."""
        for inner in self.batch.inners_at(self.space):
            if inner.ready == round_ and not inner.is_local:
                yield from self.take(
                    inner.name, unpack_rows(by_tag.get(Tag("new", inner.name), ()))
                )

    def take(self, name: str, rows: pa.RecordBatch | None) -> Iterator[Packet]:
        """Take new rows, write what later rounds or batches will read, and say so."""
        if rows is not None and name in self.batch.layout.early:
            rows = fold(rows)
        new = [] if rows is None else [self._sorted_out(name, _in_state_order(rows, self.key))]
        if new:
            self.fresh[name] = new
        at = self._at(name)
        if self.batch.is_compact(name):
            yield from self._compacted(name, new)
        elif self.batch.is_kept(name):
            for chunk in new:
                yield from keep_chunk(*at, self._lasting(name, chunk).rows, is_fresh=True)
            yield from self._merged(name)
            yield from self._trimmed(name)
        elif self.batch.is_reread(name):
            passing = self.older.get(name, []) if self.batch.is_rows(name) else []
            yield from (pass_chunk(*at, chunk.rows, is_fresh=False) for chunk in passing)
            yield from (pass_chunk(*at, chunk.rows, is_fresh=True) for chunk in new)

    def _sorted_out(self, name: str, chunk: Chunk) -> Chunk:
        """A chunk without the numbers of rusters, which mean nothing to another plan."""
        if ROUTE not in chunk.rows.schema.names:
            return chunk
        self.rusters[name] = chunk.rows.column(ROUTE).to_numpy()
        return Chunk.of(chunk.rows.drop_columns([ROUTE]), self.key)

    def reopen(self, facts: Iterable[Fact]) -> None:
        """Find what earlier rounds wrote here in this batch."""
        replaced: dict[str, set[str]] = {}
        older: dict[str, list[Chunk]] = {}
        for fact in facts:
            if not isinstance(fact, KeptChunk | PassingChunk) or fact.is_fresh is None:
                continue
            name, space = fact.module.place or ("", None)
            if space != self.space:
                continue
            replaces = fact.replaces if isinstance(fact, KeptChunk) else ()
            replaced.setdefault(name, set()).update(replaces)
            if fact.chunk is not None:
                held = self.fresh if fact.is_fresh else older
                held.setdefault(name, []).append(self._open(name, fact.chunk))
        for name, skip in replaced.items():
            if skip or name in older:
                found = [*self._listed(name, frozenset(skip)), *older.get(name, [])]
                self.older[name] = self._with_ends(name, found)

    # Looking

    def new(self, name: str) -> list[Chunk]:
        """New chunks of an input or inner join; where all is new, all of an input."""
        fresh = self.fresh.get(name, [])
        if not self.batch.all_is_new or name not in self.batch.layout.spaces:
            return fresh
        if name not in self.whole:
            self.whole[name] = self._whole(name, [*self._listed(name), *fresh])
        return self.whole[name]

    def _whole(self, name: str, chunks: list[Chunk]) -> list[Chunk]:
        """All that there is of an input; where rows stand for several, what is seen of them."""
        if not chunks or not self.is_segmented(name):
            return chunks
        rows = pa.concat_batches([chunk.rows for chunk in chunks])
        return [_in_state_order(self.segmented(name, rows), self.key)]

    def is_segmented(self, name: str) -> bool:
        """Whether rows of an input are joined as segments."""
        return self.batch.routing.is_recomputed and name in self.batch.layout.weighted

    def segmented(self, name: str, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Rows of an input as segments of the ticks that are due."""
        due = self.batch.due
        assert due is not None, "only views are recomputed"
        assert self.span is not None, "a view has ticks"
        return segments(name, rows, due.ticks, self.span)

    def starting(self, route: Route) -> Iterator[pa.RecordBatch]:
        """New rows of a route's driver that take the route."""
        for chunk in self.new(route.driver):
            if route.ruster is None:
                yield chunk.rows
            else:
                yield chunk.rows.filter(pa.array(self.rusters[route.driver] == route.ruster))

    def chunks(self, visit: Visit) -> Sequence[Chunk]:
        """The chunks that a visit looks into, sorted the way it searches."""
        found = [
            *self._old(visit.target),
            *(self.new(visit.target) if visit.includes_batch else ()),
        ]
        if visit.key is None and self.key is not None:
            return [self._by_time(chunk) for chunk in found]
        return found

    def _old(self, name: str) -> list[Chunk]:
        if self.batch.all_is_new:
            return []
        if name not in self.older:
            self.older[name] = self._with_ends(name, self._listed(name))
        return self.older[name]

    def _listed(self, name: str, skip: frozenset[str] = frozenset()) -> list[Chunk]:
        infos = self.batch.listed(name, self.pid)
        return [self._open(name, info) for info in infos if info.name not in skip]

    def _open(self, name: str, info: ChunkInfo) -> Chunk:
        chunk = open_chunk(self.batch.root, info, self.key)
        rows = with_lanes(self.batch.layout, name, chunk.rows)
        return chunk if rows is chunk.rows else Chunk.of(rows, self.key)

    def _by_time(self, chunk: Chunk) -> Chunk:
        if id(chunk) not in self.scans:
            self.scans[id(chunk)] = by_time(chunk)
        return self.scans[id(chunk)]

    def _with_ends(self, name: str, chunks: list[Chunk]) -> list[Chunk]:
        """Inner results with what is known by now of the ends of their ROWS members."""
        members = self.batch.rows_members(name)
        if not members:
            return chunks
        return [
            Chunk.of(self.known_ends.updated(chunk.rows, members), self.key) for chunk in chunks
        ]

    # Writing

    def _reached(self, alias: str, rows: pa.RecordBatch) -> int:
        """A time that a stream will not go back behind after this batch."""
        highest = int(rows.column(TS).to_numpy().max())
        return highest - self.batch.layout.query.input(alias).source.lateness

    def _lasting(self, name: str, chunk: Chunk) -> Chunk:
        """A chunk without the tuples that nothing to come can meet: a batch may outlast windows."""
        batch, query = self.batch, self.batch.layout.query
        if name not in batch.layout.spaces or query.is_sequenced or batch.is_reread(name):
            return chunk
        return self._alive_at(name, chunk, self._coming(name))

    def _alive_at(self, name: str, chunk: Chunk, time: int) -> Chunk:
        """A chunk without what is dead at a time. Folded rows may be older than they seem."""
        if UNTIL in chunk.rows.schema.names:
            alive = chunk.rows.column(UNTIL).to_numpy() >= time
        else:
            alive = chunk.times >= self._born_by(name, time)
        return chunk if alive.all() else Chunk.of(chunk.rows.filter(pa.array(alive)), self.key)

    def _born_by(self, name: str, time: int) -> int:
        return oldest_alive(self.batch.layout.query.input(name).window, time)

    def _coming(self, name: str) -> int:
        """A time before which nothing will look for tuples of an input after this batch."""
        ticks = self.batch.layout.ticks
        if ticks is not None and self.span is not None:
            return min(self.span.after, FOREVER) - ticks.lag
        others = [i.alias for i in self.batch.layout.query.streams if i.alias != name]
        return min((self.reached.get(alias, -FOREVER) for alias in others), default=-FOREVER)

    def _trimmed(self, name: str) -> Iterator[Packet]:
        """A view's chunks without what no tick to come sees, once that is more than a little.

        Later rounds still read the old chunks.
        """
        if self.span is None or name not in self.batch.layout.spaces:
            return
        coming = self._coming(name)
        merged = self.batch.merged(self._module(name), self.pid)
        infos = [info for info in self.batch.listed(name, self.pid) if info not in merged]
        oldest = self._born_by(name, coming)
        dying = [i for i in infos if i.first_ts < oldest or i.dies_before(coming)]
        left = {i: self._alive_at(name, self._open(name, i), coming) for i in dying}
        dead = sum(info.rows - len(chunk.rows) for info, chunk in left.items())
        for info, chunk in left.items() if dead > _DEAD * sum(i.rows for i in infos) else ():
            if len(chunk.rows) < info.rows:
                yield from keep_chunk(*self._at(name), chunk.rows, tier=info.tier, replaces=[info])

    def _merged(self, name: str) -> Iterator[Packet]:
        """Several chunks as one, without what has expired."""
        infos = self.batch.merged(self._module(name), self.pid)
        if not infos:
            return
        rows = pa.concat_batches([self.batch.rows_of(name, info) for info in infos])
        rows = folded(self.batch.layout, name, self._alive(name, rows), self.batch.open_tick)
        merged = [_in_state_order(rows, self.key)] if len(rows) else []
        skip = frozenset(info.name for info in infos)
        self.older[name] = self._with_ends(name, self._listed(name, skip)) + merged
        tier = 1 + max(info.tier for info in infos)
        written = merged[0].rows if merged else None
        yield from keep_chunk(*self._at(name), written, tier=tier, replaces=infos, is_fresh=False)

    def _compacted(self, name: str, new: list[Chunk]) -> Iterator[Packet]:
        """All that is kept of an input folded into one chunk for each time at which it dies.

        So a block goes as a whole once it is over. Later rounds still read the old chunks.
        """
        if not new:
            return
        batch = self.batch
        infos = batch.listed(name, self.pid)
        rows = [*(batch.rows_of(name, info) for info in infos), *(chunk.rows for chunk in new)]
        # Ticks that are evaluated in this batch will not be looked at again.
        coming = batch.open_tick if self.span is None else self.span.after
        kept = folded(batch.layout, name, pa.concat_batches(rows), coming)
        deaths = kept.column(UNTIL).to_numpy()
        for death in np.unique(deaths):
            chunk = _in_state_order(kept.filter(pa.array(deaths == death)), self.key)
            yield from keep_chunk(*self._at(name), chunk.rows, replaces=infos)
        if batch.is_reread(name):
            yield from (pass_chunk(*self._at(name), chunk.rows, is_fresh=True) for chunk in new)

    def _alive(self, name: str, rows: pa.RecordBatch) -> pa.RecordBatch:
        alive = rows.column(TS).to_numpy() >= self.batch.floor(name)
        members = self.batch.rows_members(name)
        if members:
            rows = self.known_ends.updated(rows, members)
            alive &= rows.column(END).to_numpy() > DEAD
        return rows if alive.all() else rows.filter(pa.array(alive))

    def _module(self, name: str) -> Module:
        return Module.kept(name, self.space)

    def _at(self, name: str) -> tuple[Place, Module, int]:
        """Where chunks of an input or inner join are written."""
        return self.batch.root, self._module(name), self.pid


def _in_state_order(rows: pa.RecordBatch, key: int | None) -> Chunk:
    """New tuples sorted as state is: by (hash, time, number or arrival)."""
    times = rows.column(TS).to_numpy()
    hashes = (
        np.zeros(len(rows), np.int64) if key is None else rows.column(hash_name(key)).to_numpy()
    )
    ties = next((n for n in (SEQUENCE, ARRIVAL) if n in rows.schema.names), None)
    numbers = np.zeros(len(rows), np.int64) if ties is None else rows.column(ties).to_numpy()
    order = np.lexsort((numbers, times)) if key is None else state_order(hashes, times, numbers)
    names = [n for n in rows.schema.names if n != ARRIVAL]
    return Chunk.of(rows.select(names).take(pa.array(order)), key)
