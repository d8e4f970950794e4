"""The pipeline of a running query: batch after batch, each made final by its manifest."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.engine import manifest as manifests
from penstock.engine.checkpoint import Checkpoint
from penstock.engine.feed import serving_name
from penstock.engine.frontier import (
    after_reading,
    frontier_of,
    late_below,
    later_of,
    still_silent,
)
from penstock.engine.guard import raise_error
from penstock.engine.job import Job, Runner
from penstock.engine.layout import Layout
from penstock.engine.lifetimes import FOREVER, oldest_alive
from penstock.engine.manifest import Manifest, StreamState
from penstock.engine.merging import merges_of
from penstock.engine.pack import Packing
from penstock.engine.publish import (
    as_parts,
    clean,
    is_unpublished,
    length_of,
    prepare,
    print_results,
    publish,
    staging_of,
)
from penstock.engine.routes import routes_of
from penstock.engine.sequencer import Sequencer
from penstock.engine.sinks import Sink, StagedPart
from penstock.engine.step import Batch
from penstock.engine.store import ChunkInfo
from penstock.errors import CheckpointError
from penstock.plan.multiway import MultiwayJoin
from penstock.query.source import Source

Facts = list[dict[str, Any]]


@dataclass(frozen=True)
class Report:
    """What a batch did. `read` and `late` count tuples by source; seconds are of wall time."""

    batch: int
    seconds: float
    read: Mapping[str, int]
    late: Mapping[str, int]
    malformed: Mapping[str, int]
    results: int
    state_tuples: int
    frontier: int | None
    total_results: int


class Pipeline:
    """Runs the batches of one query over one checkpoint into one sink."""

    def __init__(
        self,
        plan: MultiwayJoin,
        checkpoint: Checkpoint,
        sink: Sink,
        *,
        overwrite: bool = False,
        deliver: Callable[[Manifest], None] | None = None,
    ):
        self.plan = plan
        self.sink = sink
        self.checkpoint = checkpoint
        self.layout = Layout(plan.query)
        self.routes = routes_of(plan, self.layout)
        self.staging = staging_of(sink, checkpoint.store)
        self._deliver = deliver or (lambda manifest: None)
        self._report: Callable[[Report], None] = lambda report: None
        found = manifests.latest(checkpoint.store)
        if found is not None and found.is_closed:
            shown = Sink.named(found.sink)
            if is_unpublished(shown, found):
                publish(shown, found)
            raise CheckpointError(
                f"checkpoint {checkpoint.store.root} is closed: its run was drained",
                hint="its streams ended there; start anew with another --checkpoint",
            )
        self.manifest = found or Manifest(batch=-1)
        self._last_seen = dict.fromkeys(self._sources, time.monotonic())
        self._recover(overwrite)

    @property
    def _sources(self) -> dict[str, Source]:
        """The streams' sources by name; tables do not move the frontier."""
        return {i.source.name: i.source for i in self.plan.query.streams}

    def on_report(self, report: Callable[[Report], None]) -> None:
        """Have a function called with the report of each batch."""
        self._report = report

    # Batches

    def process(
        self,
        number: int,
        run: Runner,
        *,
        offsets: Mapping[str, int] | None = None,
        drains: bool = False,
    ) -> None:
        """Run batch `number`, or show its results again if it is final already."""
        if number <= self.manifest.batch:
            publish(self.sink, self.manifest)
            return
        started = time.monotonic()
        silent = self._silent(number)
        facts = run(self._job(number, silent, drains))
        raise_error(facts)
        made = self._advanced(number, facts, silent)
        made = dataclasses.replace(made, offsets=offsets or {}, is_closed=drains)
        if self.sink.kind == "console":
            print_results(self.staging, made.parts)
        self._deliver(made)
        manifests.commit(self.checkpoint.store, made)
        publish(self.sink, made)
        before, self.manifest = self.manifest, made
        self._sweep(before, facts)
        self._report(self._summary(before, time.monotonic() - started))

    def drain(self, run: Runner) -> None:
        """Answer whatever waits for the frontier, and close the checkpoint."""
        number = self.manifest.batch + 1
        self.process(number, run, offsets=self.manifest.offsets, drains=True)

    def _job(self, number: int, silent: frozenset[str], drains: bool) -> Job:
        streams = self.manifest.streams
        batch = Batch(
            number=number,
            layout=self.layout,
            routes=self.routes,
            partitions=self.checkpoint.partitions,
            root=self.checkpoint.store.root,
            state=self.manifest.modules,
            merges=merges_of(self.manifest.modules),
            floors=self._floors(streams),
            staging=self.staging,
        )
        late = {name: late_below(s, streams.get(name)) for name, s in self._sources.items()}
        packing = Packing(self.layout, self.routes, self.checkpoint.partitions, late)
        sequencer = None
        if self.plan.query.is_sequenced:
            sequencer = Sequencer(batch, self.manifest.sequence, streams, silent, drains)
        return Job(packing, sequencer, batch)

    def _advanced(self, number: int, facts: Facts, silent: frozenset[str]) -> Manifest:
        """The manifest after a batch."""
        before = self.manifest
        streams = self._streams_after(facts, silent)
        staged = [
            StagedPart(f["staged"], f["rows"], f["size"]) for f in facts if f["kind"] == "part"
        ]
        parts = as_parts(self.sink, number, staged)
        return Manifest(
            batch=number,
            modules=self._modules_after(facts, self._floors(streams)),
            streams=streams,
            sequence=before.sequence + sum(f["count"] for f in facts if f["kind"] == "sequence"),
            results=before.results + sum(part.rows for part in staged),
            parts=parts if self.staging.format else (),
            sink=self.sink.name,
            sink_length=before.sink_length + sum(part.size for part in before.parts),
        )

    # Time

    def _streams_after(self, facts: Facts, silent: frozenset[str]) -> dict[str, StreamState]:
        streams = after_reading(self.manifest.streams, facts)
        silent = still_silent(silent, facts)
        frontier = frontier_of(self._sources.values(), streams, silent)
        for name in silent if frontier > -FOREVER else ():
            old = streams.get(name, StreamState())
            streams[name] = dataclasses.replace(old, passed=later_of(old.passed, frontier))
        return streams

    def _floors(self, streams: Mapping[str, StreamState]) -> dict[str, int]:
        """The event time below which each input's tuples are dead for all others to come."""
        floors = {}
        for item in self.plan.query.inputs:
            others = [i.source for i in self.plan.query.streams if i.alias != item.alias]
            if not others:
                floors[item.alias] = FOREVER
                continue
            # Tuples that wait for the frontier may be older than what their stream sends next.
            waiting = self._sources.values() if self.plan.query.is_sequenced else ()
            coming = frontier_of([*others, *waiting], streams)
            floors[item.alias] = oldest_alive(item.window, coming)
        return floors

    def _silent(self, number: int) -> frozenset[str]:
        """The sources that have been silent for longer than their `idle` time.

        Decided once a batch and written down, so that a batch that is run again decides the same.
        """
        if not any(source.idle for source in self._sources.values()):
            return frozenset()
        name = f"decisions/{number:012d}.json"
        store = self.checkpoint.store
        if not store.exists(name):
            now = time.monotonic()
            silent = [
                s.name
                for s in self._sources.values()
                if s.idle is not None and (now - self._last_seen[s.name]) * 1e6 > s.idle
            ]
            store.publish(name, json.dumps(silent).encode())
        return frozenset(json.loads(bytes(store.read(name))))

    # State

    def _modules_after(
        self, facts: Facts, floors: Mapping[str, int]
    ) -> dict[str, dict[int, tuple[ChunkInfo, ...]]]:
        modules = {m: dict(partitions) for m, partitions in self.manifest.modules.items()}
        for fact in facts:
            if fact["kind"] == "chunk":
                partitions = modules.setdefault(fact["module"], {})
                replaced = set(fact.get("replaces", ()))
                kept = [c for c in partitions.get(fact["pid"], ()) if c.name not in replaced]
                new = [] if fact["chunk"] is None else [ChunkInfo(**fact["chunk"])]
                partitions[fact["pid"]] = (*kept, *new)
        return {
            module: {pid: _alive(chunks, _floor_of(module, floors)) for pid, chunks in p.items()}
            for module, p in modules.items()
        }

    def _recover(self, overwrite: bool) -> None:
        """After a crash: show what is final, remove what is not."""
        is_new = self.manifest.sink != self.sink.name
        if self.manifest.sink:
            publish(Sink.named(self.manifest.sink), self.manifest)
        prepare(self.sink, is_new=is_new, overwrite=overwrite)
        if is_new:
            length = length_of(self.sink)
            self.manifest = dataclasses.replace(self.manifest, sink_length=length, parts=())
        store = self.checkpoint.store
        listed = {chunk.name for chunk in self.manifest.chunks()}
        store.remove([name for name in store.names("state") if name not in listed])
        store.remove(store.names("transit"))
        clean(self.staging)

    def _sweep(self, before: Manifest, facts: Facts) -> None:
        """Delete what the batch made unreachable; a batch that runs again needs none of it."""
        store = self.checkpoint.store
        kept = {chunk.name for chunk in self.manifest.chunks()}
        gone = [chunk.name for chunk in before.chunks() if chunk.name not in kept]
        gone += [f["chunk"]["name"] for f in facts if f["kind"] == "ring"]
        made = [f["chunk"]["name"] for f in facts if f["kind"] == "chunk" and f["chunk"]]
        store.remove(gone + [name for name in made if name not in kept])
        manifests.forget(store, before=self.manifest.batch - 1)
        store.remove([f"decisions/{self.manifest.batch:012d}.json"])
        last = serving_name(self.manifest.batch)
        store.remove([name for name in store.names("feed") if name <= last])
        clean(self.staging)
        now = time.monotonic()
        for fact in facts:
            if fact["kind"] == "read" and fact["rows"]:
                self._last_seen[fact["source"]] = now

    def _summary(self, before: Manifest, seconds: float) -> Report:
        now, names = self.manifest, list(self._sources)
        old = {name: before.streams.get(name, StreamState()) for name in names}
        new = {name: now.streams.get(name, StreamState()) for name in names}
        frontier = frontier_of(self._sources.values(), now.streams)
        return Report(
            batch=now.batch,
            seconds=seconds,
            read={name: new[name].rows - old[name].rows for name in names},
            late={name: new[name].late - old[name].late for name in names},
            malformed={name: new[name].malformed - old[name].malformed for name in names},
            results=now.results - before.results,
            state_tuples=now.state_tuples,
            frontier=None if abs(frontier) >= FOREVER else frontier,
            total_results=now.results,
        )


def _floor_of(module: str, floors: Mapping[str, int]) -> int:
    """The floor of a state module; what waits or is in a ROWS window does not expire by time."""
    alias, at, _ = module.partition("@")
    return floors.get(alias, -FOREVER) if at else -FOREVER


def _alive(chunks: tuple[ChunkInfo, ...], floor: int) -> tuple[ChunkInfo, ...]:
    return tuple(chunk for chunk in chunks if chunk.last_ts >= floor)
