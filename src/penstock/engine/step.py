"""Step: what one partition does in one round: keep its new tuples, then probe for all comers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.engine.evaluate import evaluate
from penstock.engine.join import Join, Partial, by_time, start
from penstock.engine.layout import (
    ARRIVAL,
    SEQUENCE,
    TS,
    Layout,
    column_name,
    hash_name,
)
from penstock.engine.lifetimes import FOREVER
from penstock.engine.pack import placement, scatter, starts_at_home
from penstock.engine.packets import (
    Packet,
    pack_meta,
    pack_rows,
    sort_out,
    unpack_meta,
    unpack_rows,
)
from penstock.engine.routes import Leg, Route, Visit
from penstock.engine.sinks import PartWriter, Staging
from penstock.engine.store import Chunk, ChunkInfo, Store, open_chunk, read_rows
from penstock.kernels.sorting import state_order
from penstock.query import RowsWindow

Infos = tuple[ChunkInfo, ...]


def module_name(alias: str, space: int) -> str:
    """The state module of an input in a space."""
    return f"{alias}@{space}"


@dataclass(frozen=True)
class Batch:
    """What every step of a batch knows: the plan, the state before it, what has expired since.

    `state` lists the chunks by module and partition as manifest n − 1 does, `merges` those that
    are to become one, `floors` the event time below which an input's tuples are dead.
    """

    number: int
    layout: Layout
    routes: tuple[Route, ...]
    partitions: int
    root: str
    state: Mapping[str, Mapping[int, Infos]]
    merges: Mapping[str, Mapping[int, Infos]]
    floors: Mapping[str, int]
    staging: Staging

    @property
    def rounds(self) -> int:
        return max(len(route.legs) for route in self.routes)


@dataclass
class Step:
    """One partition in one round."""

    batch: Batch
    round: int
    pid: int
    fresh: dict[str, Chunk] = field(default_factory=dict)
    older: dict[str, list[Chunk]] = field(default_factory=dict)
    scans: dict[int, Chunk] = field(default_factory=dict)

    def run(self, packets: Iterable[Packet]) -> Iterator[Packet]:
        """Packets for the next round, or facts for the driver after the last."""
        facts, by_tag = sort_out(packets)
        yield from facts
        if self.round == 0:
            yield from self._build(by_tag)
        else:
            self._reopen(facts)
        writer = PartWriter(self.batch.staging, self.batch.layout.query)
        for route in self.batch.routes:
            if len(route.legs) > self.round:
                yield from self._travel(route, by_tag, writer)
        for part in writer.close():
            yield pack_meta(self.pid, "part", **dataclasses.asdict(part))

    @property
    def space(self) -> int:
        return self.pid // self.batch.partitions

    @property
    def key(self) -> int | None:
        return self.space if self.space < len(self.batch.layout.keys) else None

    # Building

    def _build(self, by_tag: Mapping[str, list[Packet]]) -> Iterator[Packet]:
        """Keep the new tuples of every input that has a module here."""
        for alias, spaces in self.batch.layout.spaces.items():
            if self.space not in spaces:
                continue
            ring = self._arrived(by_tag, f"ring:{alias}")
            if ring is not None:
                self.older[alias] = [ring]
            new = self._arrived(by_tag, f"new:{alias}")
            if new is not None:
                self.fresh[alias] = new
            yield from self._keep(alias)

    def _keep(self, alias: str) -> Iterator[Packet]:
        """Write what later rounds or batches will read, and say so."""
        module = module_name(alias, self.space)
        is_passing = isinstance(self.batch.layout.query.input(alias).window, RowsWindow)
        is_needed = self.batch.floors.get(alias) != FOREVER
        if not is_needed or (is_passing and self.batch.rounds == 1):
            return
        for chunk in self.older.get(alias, []) if is_passing else []:
            yield self._written(module, chunk, "ring")
        if alias in self.fresh:
            yield self._written(module, self.fresh[alias], "ring" if is_passing else "chunk")
        merging = self.batch.merges.get(module, {}).get(self.pid, ())
        if merging:
            yield self._merged(alias, module, merging)

    def _arrived(self, by_tag: Mapping[str, list[Packet]], tag: str) -> Chunk | None:
        rows = unpack_rows(by_tag.get(tag, ()))
        return None if rows is None else _in_state_order(rows, self.key)

    def _written(self, module: str, chunk: Chunk, kind: str, **more: Any) -> Packet:
        folder = f"state/{module}/{self.pid}"
        tier = more.pop("tier", 0)
        info = Store(self.batch.root).write_chunk(folder, chunk.rows, tier)
        is_fresh = chunk is self.fresh.get(module.rsplit("@", 1)[0])
        facts = dataclasses.asdict(info)
        return pack_meta(self.pid, kind, module=module, is_fresh=is_fresh, chunk=facts, **more)

    def _merged(self, alias: str, module: str, infos: Infos) -> Packet:
        """Several chunks as one, without what has expired."""
        floor = self.batch.floors.get(alias, -FOREVER)
        rows = pa.concat_batches([read_rows(self.batch.root, info) for info in infos])
        alive = rows.column(TS).to_numpy() >= floor
        if not alive.all():
            rows = rows.filter(pa.array(alive))
        chunk = _in_state_order(rows, self.key)
        replaced = [info.name for info in infos]
        tier = 1 + max(info.tier for info in infos)
        self.older[alias] = [*self._listed(alias, skip=frozenset(replaced)), chunk]
        return self._written(module, chunk, "chunk", tier=tier, replaces=replaced)

    def _reopen(self, facts: list[Packet]) -> None:
        """Find what round 0 wrote here for this batch."""
        layout = self.batch.layout
        for alias in layout.spaces:
            older: list[Chunk] = []
            replaced: set[str] = set()
            for fact in map(unpack_meta, facts):
                if fact.get("module") != module_name(alias, self.space):
                    continue
                replaced.update(fact.get("replaces", ()))
                chunk = self._open(ChunkInfo(**fact["chunk"]))
                if fact["is_fresh"]:
                    self.fresh[alias] = chunk
                else:
                    older.append(chunk)
            if older:
                self.older[alias] = [*self._listed(alias, skip=frozenset(replaced)), *older]

    # Probing

    def _travel(
        self, route: Route, by_tag: Mapping[str, list[Packet]], writer: PartWriter
    ) -> Iterator[Packet]:
        """Take a route's tuples through the leg of this round."""
        leg = route.legs[self.round]
        partial = self._travellers(route, by_tag) if leg.space == self.space else None
        if partial is None:
            return
        join = Join(self.batch.layout.query, leg.visits, self._chunks)
        is_done = self.round == len(route.legs) - 1
        for found in join.run(partial):
            if is_done:
                writer.write(self._results(found))
            else:
                yield from self._send_on(route, route.legs[self.round + 1], found)

    def _travellers(self, route: Route, by_tag: Mapping[str, list[Packet]]) -> Partial | None:
        if self.round > 0:
            rows = unpack_rows(by_tag.get(f"partial:{route.driver}", ()))
            return None if rows is None else Partial.from_rows(rows)
        window = self.batch.layout.query.input(route.driver).window
        if starts_at_home(self.batch.layout, route):
            chunk = self.fresh.get(route.driver)
            return None if chunk is None else start(chunk.rows, window)
        rows = unpack_rows(by_tag.get(f"drive:{route.driver}", ()))
        return None if rows is None else start(rows, window)

    def _send_on(self, route: Route, leg: Leg, found: Partial) -> Iterator[Packet]:
        rows = found.to_rows()
        tag = f"partial:{route.driver}"
        partitions = self.batch.partitions
        base = leg.space * partitions
        if leg.is_broadcast:
            yield from (pack_rows(base + p, tag, rows) for p in range(partitions))
        else:
            places = placement(self.batch.layout, leg.space, rows, partitions)
            yield from scatter(rows, places, tag, base, partitions)

    def _results(self, found: Partial) -> pa.RecordBatch:
        outputs = self.batch.layout.query.outputs
        payload = found.payload
        if not payload.num_columns:
            payload = pa.RecordBatch.from_pydict({"#rows": pa.nulls(len(found))})
        columns = [evaluate(output.expression, payload, column_name) for output in outputs]
        return pa.RecordBatch.from_arrays(columns, names=[output.name for output in outputs])

    # State

    def _chunks(self, visit: Visit) -> Sequence[Chunk]:
        """The chunks that a visit looks into, sorted the way it searches."""
        alias = visit.target
        if alias not in self.older:
            self.older[alias] = self._listed(alias)
        chunks = list(self.older[alias])
        if visit.includes_batch and alias in self.fresh:
            chunks.append(self.fresh[alias])
        if visit.key is None and self.key is not None:
            return [self._by_time(chunk) for chunk in chunks]
        return chunks

    def _listed(self, alias: str, skip: frozenset[str] = frozenset()) -> list[Chunk]:
        module = module_name(alias, self.space)
        floor = self.batch.floors.get(alias, -FOREVER)
        infos = self.batch.state.get(module, {}).get(self.pid, ())
        return [self._open(i) for i in infos if i.name not in skip and i.last_ts >= floor]

    def _open(self, info: ChunkInfo) -> Chunk:
        return open_chunk(self.batch.root, info, self.key)

    def _by_time(self, chunk: Chunk) -> Chunk:
        if id(chunk) not in self.scans:
            self.scans[id(chunk)] = by_time(chunk)
        return self.scans[id(chunk)]


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
