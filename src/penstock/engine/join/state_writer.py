"""Writing of state: a partition's new rows kept as chunks, and its old chunks merged or trimmed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from penstock.engine.folding.fold import folded
from penstock.engine.join.batch import Batch
from penstock.engine.join.partition_state import PartitionState, in_state_order
from penstock.engine.join.row_ends import DEAD
from penstock.engine.places.place import Place
from penstock.engine.rows.accumulators import fold
from penstock.engine.rows.columns import END, ROUTE, TS, UNTIL
from penstock.engine.rows.lifetimes import FOREVER, oldest_alive
from penstock.engine.state.modules import Module
from penstock.engine.state.store import Chunk
from penstock.engine.wire.chunks import keep_chunk, pass_chunk
from penstock.engine.wire.packets import Packet, unpack_rows
from penstock.engine.wire.tags import Tag

Tags = Mapping[Tag, list[Packet]]

# The part of what is kept of a view's windows that may have died. Chunks expire as a whole, and one
# of many batches is large; each time that so much has died, what is left is written once more.
_DEAD = 1 / 16


@dataclass
class StateWriter:
    """Takes new rows into the state of a partition, and writes what later rounds and batches read.

    Every method says in packets what it has written.
    """

    state: PartitionState

    reached: dict[str, int] = field(default_factory=dict)
    """How far streams have come for sure, by what of them is new here."""

    @property
    def batch(self) -> Batch:
        return self.state.batch

    def take_inputs(self, by_tag: Tags) -> Iterator[Packet]:
        """Keep the new tuples of every input that has a module here."""
        space = self.state.space
        here = [alias for alias, spaces in self.batch.layout.spaces.items() if space in spaces]
        arrived = {alias: unpack_rows(by_tag.get(Tag("new", alias), ())) for alias in here}
        self.reached = {
            a: self._reached(a, rows) for a, rows in arrived.items() if rows is not None
        }
        for alias, rows in arrived.items():
            ring = unpack_rows(by_tag.get(Tag("ring", alias), ()))
            if ring is not None:
                self.state.older[alias] = [in_state_order(ring, self.state.key)]
            yield from self.take(alias, rows)

    def take_inners(self, round_: int, by_tag: Tags) -> Iterator[Packet]:
        """Keep the inner results that were sent here by the round before."""
        for inner in self.batch.inners_at(self.state.space):
            if inner.ready == round_ and not inner.is_local:
                yield from self.take(
                    inner.name, unpack_rows(by_tag.get(Tag("new", inner.name), ()))
                )

    def take(self, name: str, rows: pa.RecordBatch | None) -> Iterator[Packet]:
        """Take new rows, write what later rounds or batches will read, and say so."""
        new: list[Chunk] = []
        if rows is not None:
            rows = fold(rows) if name in self.batch.layout.early else rows
            new = [self._without_rusters(name, in_state_order(rows, self.state.key))]
            self.state.fresh[name] = new
        at = self._at(name)
        if self.batch.is_compact(name):
            yield from self._compacted(name, new)
        elif self.batch.is_kept(name):
            for chunk in new:
                yield from keep_chunk(*at, self._lasting(name, chunk).rows, is_fresh=True)
            yield from self._merged(name)
            yield from self._trimmed(name)
        elif self.batch.is_reread(name):
            passing = self.state.older.get(name, []) if self.batch.is_rows(name) else []
            yield from (pass_chunk(*at, chunk.rows, is_fresh=False) for chunk in passing)
            yield from (pass_chunk(*at, chunk.rows, is_fresh=True) for chunk in new)

    def _without_rusters(self, name: str, chunk: Chunk) -> Chunk:
        """A chunk without the numbers of rusters, which mean nothing to another plan."""
        if ROUTE not in chunk.rows.schema.names:
            return chunk
        self.state.rusters[name] = chunk.rows.column(ROUTE).to_numpy()
        return Chunk.of(chunk.rows.drop_columns([ROUTE]), self.state.key)

    def _reached(self, alias: str, rows: pa.RecordBatch) -> int:
        """A time that a stream will not go back behind after this batch.

        The last tuple does not tell of a topic whose partitions lag, nor of what a query gives.
        """
        source = self.batch.layout.query.input(alias).source
        if source.format in ("kafka", "derived"):
            return -FOREVER
        return int(rows.column(TS).to_numpy().max()) - source.lateness

    def _lasting(self, name: str, chunk: Chunk) -> Chunk:
        """A chunk without the tuples that nothing to come can meet: a batch may outlast windows."""
        batch, query = self.batch, self.batch.layout.query
        is_asked = query.outer is not None and name in query.outer.nullables
        if name not in batch.layout.spaces or query.is_sequenced or batch.is_reread(name):
            return chunk
        if (is_asked and query.view is None) or query.asks_jointly:
            return chunk
        return self._alive_at(name, chunk, self._coming(name))

    def _alive_at(self, name: str, chunk: Chunk, time: int) -> Chunk:
        """A chunk without what is dead at a time. Folded rows may be older than they seem."""
        if UNTIL in chunk.rows.schema.names:
            alive = chunk.rows.column(UNTIL).to_numpy() >= time
        else:
            alive = chunk.times >= self._born_by(name, time)
        if alive.all():
            return chunk
        return Chunk.of(chunk.rows.filter(pa.array(alive)), self.state.key)

    def _born_by(self, name: str, time: int) -> int:
        return oldest_alive(self.batch.layout.query.input(name).window, time)

    def _coming(self, name: str) -> int:
        """A time before which nothing will look for tuples of an input after this batch."""
        ticks = self.batch.layout.ticks
        if ticks is not None and self.state.span is not None:
            return min(self.state.span.after, FOREVER) - ticks.lag
        others = [i.alias for i in self.batch.layout.query.streams if i.alias != name]
        return min((self.reached.get(alias, -FOREVER) for alias in others), default=-FOREVER)

    def _trimmed(self, name: str) -> Iterator[Packet]:
        """A view's chunks without what no tick to come sees, once that is more than a little.

        Later rounds still read the old chunks.
        """
        if self.state.span is None or name not in self.batch.layout.spaces:
            return
        coming = self._coming(name)
        merged = self.batch.merged(self._module(name), self.state.pid)
        infos = [info for info in self.batch.listed(name, self.state.pid) if info not in merged]
        oldest = self._born_by(name, coming)
        dying = [i for i in infos if i.first_ts < oldest or i.dies_before(coming)]
        left = {i: self._alive_at(name, self.state.open(name, i), coming) for i in dying}
        dead = sum(info.rows - len(chunk.rows) for info, chunk in left.items())
        for info, chunk in left.items() if dead > _DEAD * sum(i.rows for i in infos) else ():
            if len(chunk.rows) < info.rows:
                yield from keep_chunk(*self._at(name), chunk.rows, tier=info.tier, replaces=[info])

    def _merged(self, name: str) -> Iterator[Packet]:
        """Several chunks as one, without what has expired."""
        infos = self.batch.merged(self._module(name), self.state.pid)
        if not infos:
            return
        rows = pa.concat_batches(_alike([self.batch.rows_of(name, info) for info in infos]))
        rows = folded(self.batch.layout, name, self._alive(name, rows), self.batch.open_tick)
        merged = [in_state_order(rows, self.state.key)] if len(rows) else []
        skip = frozenset(info.name for info in infos)
        others = self.state.with_ends(name, self.state.listed(name, skip))
        self.state.older[name] = others + merged
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
        infos = batch.listed(name, self.state.pid)
        rows = [*(batch.rows_of(name, info) for info in infos), *(chunk.rows for chunk in new)]
        # Ticks that are evaluated in this batch will not be looked at again.
        coming = batch.open_tick if self.state.span is None else self.state.span.after
        kept = folded(batch.layout, name, pa.concat_batches(rows), coming)
        deaths = kept.column(UNTIL).to_numpy()
        for death in np.unique(deaths):
            chunk = in_state_order(kept.filter(pa.array(deaths == death)), self.state.key)
            yield from keep_chunk(*self._at(name), chunk.rows, replaces=infos)
        if batch.is_reread(name):
            yield from (pass_chunk(*self._at(name), chunk.rows, is_fresh=True) for chunk in new)

    def _alive(self, name: str, rows: pa.RecordBatch) -> pa.RecordBatch:
        alive = rows.column(TS).to_numpy() >= self.batch.floor(name)
        members = self.batch.rows_members(name)
        if members:
            rows = self.state.known_ends.updated(rows, members)
            alive &= rows.column(END).to_numpy() > DEAD
        return rows if alive.all() else rows.filter(pa.array(alive))

    def _module(self, name: str) -> Module:
        return Module.kept(name, self.state.space)

    def _at(self, name: str) -> tuple[Place, Module, int]:
        """Where chunks of an input or inner join are written."""
        return self.batch.root, self._module(name), self.state.pid


def _alike(pieces: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """The rows in the columns that all of them have: a join that fewer queries share than before
    keeps fewer columns."""
    last = pieces[-1].schema
    if all(piece.schema.equals(last) for piece in pieces):
        return pieces
    names = [name for name in last.names if all(name in each.schema.names for each in pieces)]
    return [piece.select(names) for piece in pieces]
