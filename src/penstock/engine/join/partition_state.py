"""Partition state: the chunks that one partition has during one round of a batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.changes.changed_keys import ChangedKeys
from penstock.engine.folding.fold import with_lanes
from penstock.engine.folding.segments import segments
from penstock.engine.join.batch import Batch
from penstock.engine.join.legs import by_time
from penstock.engine.join.reach import Reach
from penstock.engine.join.row_ends import KnownEnds
from penstock.engine.routes.multiway_routes import Route, Visit
from penstock.engine.rows.columns import ARRIVAL, SEQUENCE, TS, hash_name
from penstock.engine.state.sealing import Seal
from penstock.engine.state.store import Chunk, ChunkInfo
from penstock.engine.state.tick_span import TickSpan
from penstock.engine.state.upkeep.chunk_cache import open_chunk
from penstock.engine.wire.facts import Fact, KeptChunk, PassingChunk
from penstock.kernels.sorting import state_order


@dataclass
class PartitionState:
    """Chunks by input or inner join, as the probes of a round look into them.

    `StateWriter` puts new ones in.
    """

    batch: Batch
    pid: int
    known_ends: KnownEnds

    span: TickSpan | None = None
    """The ticks of a view that the batch evaluates."""

    changed: ChangedKeys | None = None
    """The keys of a view over ROWS windows of which all is joined, if not everything is."""

    seals: Mapping[str, Seal] = field(default_factory=dict)
    """How far the nullable inputs of an outer join come with the batch."""

    fresh: dict[str, list[Chunk]] = field(default_factory=dict)
    """Chunks of this batch."""

    older: dict[str, list[Chunk]] = field(default_factory=dict)
    """Chunks from before."""

    whole: dict[str, list[Chunk]] = field(default_factory=dict)
    """Both, of inputs of which all is new."""

    scans: dict[int, Chunk] = field(default_factory=dict)
    """Chunks sorted by time, by the identity of the chunk."""

    reaches: dict[tuple[str, bool, bool], Reach] = field(default_factory=dict)
    """What probes can reach of an input or inner join, with or without what is new, here or in all
    partitions."""

    rusters: dict[str, NDArray[np.int16]] = field(default_factory=dict)
    """The numbers of new tuples' rusters, in the order of their chunk; they are not kept."""

    @property
    def space(self) -> int:
        return self.pid // self.batch.partitions

    @property
    def key(self) -> int | None:
        return self.space if self.space < len(self.batch.layout.keys) else None

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
                held.setdefault(name, []).append(self.open(name, fact.chunk))
        for name, skip in replaced.items():
            if skip or name in older:
                found = [*self.listed(name, frozenset(skip)), *older.get(name, [])]
                self.older[name] = self.with_ends(name, found)

    def new(self, name: str) -> list[Chunk]:
        """New chunks of an input or inner join; where all is new, all of an input."""
        fresh = self.fresh.get(name, [])
        if not self.batch.all_is_new or name not in self.batch.layout.spaces:
            return fresh
        if name not in self.whole:
            self.whole[name] = self._whole(name, [*self.listed(name), *fresh])
        return self.whole[name]

    def _whole(self, name: str, chunks: list[Chunk]) -> list[Chunk]:
        """All that there is of an input; where rows stand for several, what is seen of them; and
        where little has changed of a view, what is in that."""
        if self.changed is not None:
            rows = [self.only_changed(name, chunk.rows, self.changed) for chunk in chunks]
            return [Chunk.of(each, self.key) for each in rows if len(each)]
        if not chunks or not self.is_segmented(name):
            return chunks
        rows = pa.concat_batches([chunk.rows for chunk in chunks])
        return [in_state_order(self.segmented(name, rows), self.key)]

    def only_changed(self, name: str, rows: pa.RecordBatch, changed: ChangedKeys) -> pa.RecordBatch:
        """The tuples that may be in a changed group; those of ROWS windows all are."""
        if self.batch.is_rows(name):
            return rows
        return rows.filter(pa.array(changed.of_tuples(name, rows)))

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
            *(() if visit.excludes_old else self.old(visit.target)),
            *(self.new(visit.target) if visit.includes_batch else ()),
        ]
        if visit.key is None and self.key is not None:
            return [self._by_time(chunk) for chunk in found]
        return found

    def reach(self, visit: Visit, *, is_everywhere: bool) -> Reach | None:
        """What a visit could find by time, in all partitions together unless its tuples go to each.

        None where a row stands for several tuples: how many of them are equal says little of these.
        """
        if self.batch.stands_for_several(visit.target):
            return None
        at = (visit.target, visit.includes_batch, is_everywhere)
        if at not in self.reaches:
            share = 1.0 if is_everywhere else self.batch.share_at(visit.target, self.pid)
            self.reaches[at] = Reach.of(self.chunks(visit), share, self.batch.partitions)
        return self.reaches[at]

    def old(self, name: str) -> list[Chunk]:
        """Chunks of an input or inner join from before the batch."""
        if self.batch.all_is_new:
            return []
        if name not in self.older:
            self.older[name] = self.with_ends(name, self.listed(name))
        return self.older[name]

    def listed(self, name: str, skip: frozenset[str] = frozenset()) -> list[Chunk]:
        """The chunks that the manifest lists here, but those that are skipped."""
        infos = self.batch.listed(name, self.pid)
        return [self.open(name, info) for info in infos if info.name not in skip]

    def open(self, name: str, info: ChunkInfo) -> Chunk:
        """A chunk, with the lanes of an input that is aggregated early."""
        chunk = open_chunk(self.batch.root, info, self.key)
        rows = with_lanes(self.batch.layout, name, chunk.rows)
        return chunk if rows is chunk.rows else Chunk.of(rows, self.key)

    def _by_time(self, chunk: Chunk) -> Chunk:
        if id(chunk) not in self.scans:
            self.scans[id(chunk)] = by_time(chunk)
        return self.scans[id(chunk)]

    def with_ends(self, name: str, chunks: list[Chunk]) -> list[Chunk]:
        """Inner results with what is known by now of the ends of their ROWS members."""
        members = self.batch.rows_members(name)
        if not members:
            return chunks
        return [
            Chunk.of(self.known_ends.updated(chunk.rows, members), self.key) for chunk in chunks
        ]


def in_state_order(rows: pa.RecordBatch, key: int | None) -> Chunk:
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
