"""The pipeline of a running query: batch after batch, each made final by its manifest."""

from __future__ import annotations

import dataclasses
import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.engine.join.batch import Batch
from penstock.engine.join.expiry import floors_of, modules_after
from penstock.engine.join.pack import Packing
from penstock.engine.join.sequencer import Sequencer
from penstock.engine.routes.multiway_routes import Routing
from penstock.engine.routes.routing import routing_of
from penstock.engine.rows.layout import Layout
from penstock.engine.rows.lifetimes import FOREVER
from penstock.engine.run.adaptive import AdaptiveRouting
from penstock.engine.run.given_plan import Planned, plan_of
from penstock.engine.run.job import Job, Runner
from penstock.engine.run.preflight import refuse_closed
from penstock.engine.sinks.malformed_rows import (
    clean_kept,
    prepare_keeping,
    publish_kept,
    with_rows,
)
from penstock.engine.sinks.publish import (
    as_parts,
    clean,
    length_of,
    prepare,
    print_results,
    publish,
    staging_of,
)
from penstock.engine.sinks.sink import Sink, StagedPart
from penstock.engine.sources.feed import serving_name
from penstock.engine.state import manifest as manifests
from penstock.engine.state.checkpoint import Checkpoint, identity
from penstock.engine.state.frontier import (
    after_reading,
    frontier_of,
    late_below,
    later_of,
    still_silent,
)
from penstock.engine.state.manifest import Manifest, StreamState
from penstock.engine.state.merging import merges_of
from penstock.engine.state.store import ChunkInfo
from penstock.engine.state.tick_span import DueTicks
from penstock.engine.state.waiting import Waiting, waiting_for
from penstock.engine.views.view_step import INTERVALS, ViewStep
from penstock.engine.wire.task_errors import raise_error
from penstock.errors import PlanError
from penstock.plan.default_plan import default_plan
from penstock.plan.plan import Plan
from penstock.plan.sampling import sampled_by
from penstock.query.source import Source

Facts = list[dict[str, Any]]

_LOG = logging.getLogger(__name__)
# Unreadable files of a batch that are named; there may be thousands.
_NAMED = 10


@dataclass(frozen=True)
class Report:
    """What a batch did. Seconds are of wall time.

    `read` counts the rows that were met by source: those that were `late`, those that were
    `malformed`, and those that went on, of which each input with a drop box, now or in an earlier
    batch, `shed` some. Of the `unreadable` files no row could be met, or not the last ones. A table
    is there if it had malformed rows or unreadable files.
    `newest` is the highest event time so far by source; `waiting` says why there are no results, if
    there are none and the figures tell.
    """

    batch: int
    seconds: float
    read: Mapping[str, int]
    late: Mapping[str, int]
    malformed: Mapping[str, int]
    results: int
    state_tuples: int
    frontier: int | None
    total_results: int
    shed: Mapping[str, int] = field(default_factory=dict)
    total_shed: Mapping[str, int] = field(default_factory=dict)
    unreadable: Mapping[str, int] = field(default_factory=dict)
    newest: Mapping[str, int | None] = field(default_factory=dict)
    waiting: Waiting | None = None

    @property
    def lag(self) -> int | None:
        """How far the frontier is behind the newest tuple of all, in event time (µs)."""
        known = [time for time in self.newest.values() if time is not None]
        return None if self.frontier is None else max(max(known) - self.frontier, 0)


class Pipeline:
    """Runs the batches of one query over one checkpoint into one sink."""

    def __init__(
        self,
        plan: Plan,
        checkpoint: Checkpoint,
        sink: Sink,
        *,
        overwrite: bool = False,
        deliver: Callable[[Manifest], None] | None = None,
    ):
        self._next_plan: Plan | None = None
        self.sink = sink
        self.checkpoint = checkpoint
        self.staging = staging_of(sink, checkpoint.store, checkpoint.mark)
        self._deliver = deliver or (lambda manifest: None)
        self._report: Callable[[Report], None] = lambda report: None
        found = manifests.latest(checkpoint.store)
        refuse_closed(checkpoint, found)
        self.manifest = found or Manifest(batch=-1)
        self._adopt(plan)
        self._last_seen = dict.fromkeys(self._sources, time.monotonic())
        self._recover(overwrite)

    @property
    def _sources(self) -> Mapping[str, Source]:
        """The streams' sources by name; tables do not move the frontier."""
        return self.plan.query.stream_sources

    @property
    def _read_sources(self) -> Mapping[str, Source]:
        """The sources of all inputs by name."""
        return self.plan.query.sources

    def on_report(self, report: Callable[[Report], None]) -> None:
        """Have a function called with the report of each batch."""
        self._report = report

    def replan(self, given: Plan | Planned | str) -> None:
        """Have the batches from the next one on follow another plan for the same query."""
        plan = plan_of(given, self.plan)
        if identity(plan.query, 0) != identity(self.plan.query, 0):
            raise PlanError(
                "the new plan is for another query",
                hint="a running query may change its plan, not what it asks",
            )
        routing_of(plan, self._layout(plan))
        self._next_plan = plan

    def _adopt(self, plan: Plan) -> None:
        plan = dataclasses.replace(plan, query=self.checkpoint.placed(plan.query))
        self.plan = plan
        self.layout = self._layout(plan)
        self.adaptive = AdaptiveRouting(plan, self.layout)
        self.routing = self.adaptive.routing(self.manifest.batch + 1)

    def _layout(self, plan: Plan) -> Layout:
        """Inputs that were once folded stay weighted: their tuples are not to be had again.

        And those that were once shed stay sampled: some of their tuples stand for others.
        """
        if plan.early and plan.query.view is None:
            raise PlanError(
                f"the plan aggregates {', '.join(plan.early)} early, but the query does not",
                hint="only queries with GROUP BY or aggregates have early aggregation",
            )
        weighted = frozenset(self.manifest.weighted).union(plan.early)
        sampled = frozenset(self.manifest.sampled).union(sampled_by(plan))
        is_estimate = bool(sampled) and plan.drops.estimates
        return Layout(plan.query, weighted, frozenset(plan.early), sampled, is_estimate)

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
            publish_kept(self.checkpoint.store, self.manifest.kept)
            return
        started = time.monotonic()
        plan, self._next_plan = self._next_plan, None
        if plan is not None:
            self._adopt(plan)
        self.routing = self.adaptive.routing(number)
        silent = self._silent(number)
        before = self._with_inner_state(number, run)
        facts = run(self._job(number, before, silent, drains))
        raise_error(facts)
        self.adaptive.learn(facts)
        made = self._advanced(number, before, facts, silent)
        made = dataclasses.replace(made, offsets=offsets or {})
        if drains:
            # Nothing comes any more that could meet what is kept.
            made = dataclasses.replace(made, modules={}, inner=(), is_closed=True)
        if self.sink.kind == "console":
            print_results(self.staging, made.parts)
        self._deliver(made)
        manifests.commit(self.checkpoint.store, made)
        publish(self.sink, made)
        publish_kept(self.checkpoint.store, made.kept)
        old, self.manifest = self.manifest, made
        self._sweep([*old.chunks(), *before.chunks()], facts)
        _warn(facts)
        self._report(self._summary(old, time.monotonic() - started))

    def drain(self, run: Runner) -> None:
        """Answer whatever waits for the frontier, and close the checkpoint."""
        number = self.manifest.batch + 1
        self.process(number, run, offsets=self.manifest.offsets, drains=True)

    def _job(self, number: int, before: Manifest, silent: frozenset[str], drains: bool) -> Job:
        streams = before.streams
        batch = self._batch(number, before, silent, drains)
        late = {name: late_below(s, streams.get(name)) for name, s in self._sources.items()}
        partitions = self.checkpoint.partitions
        packing = Packing(
            self.layout,
            self.routing,
            partitions,
            late,
            self.plan.drops,
            batch.open_tick,
            self.adaptive.screeners(number, self.routing),
            self.checkpoint.store.root,
        )
        sequencer = None
        if self.plan.query.is_sequenced:
            sequencer = Sequencer(batch, before.sequence, streams, silent, drains)
        if batch.due is None:
            return Job(batch, packing, sequencer)
        return Job(batch, packing, sequencer, ViewStep(batch, batch.due))

    def _batch(
        self,
        number: int,
        before: Manifest,
        silent: frozenset[str] = frozenset(),
        drains: bool = False,
    ) -> Batch:
        return Batch(
            number=number,
            layout=self.layout,
            routing=self.routing,
            partitions=self.checkpoint.partitions,
            root=self.checkpoint.store.root,
            state=before.modules,
            merges=merges_of(before.modules),
            floors=floors_of(self.plan.query, self.routing.inners, before.streams),
            staging=self.staging,
            due=self._due(before, silent, drains),
        )

    def _due(self, before: Manifest, silent: frozenset[str], drains: bool) -> DueTicks | None:
        """What decides which ticks of a view a batch evaluates, if there is one."""
        ticks, sources = self.layout.ticks, tuple(self._sources.values())
        if ticks is None:
            return None
        open_tick = ticks.next_after(frontier_of(sources, before.streams))
        return DueTicks(ticks, sources, before.streams, silent, drains, open_tick)

    def _advanced(
        self, number: int, before: Manifest, facts: Facts, silent: frozenset[str]
    ) -> Manifest:
        """The manifest after a batch."""
        streams = self._streams_after(facts, silent)
        floors = floors_of(self.plan.query, self.routing.inners, streams)
        staged = [
            StagedPart(f["staged"], f["rows"], f["size"]) for f in facts if f["kind"] == "part"
        ]
        parts = as_parts(self.sink, self.checkpoint.mark, number, staged)
        return Manifest(
            batch=number,
            modules=modules_after(before.modules, facts, floors),
            streams=streams,
            sequence=before.sequence + sum(f["count"] for f in facts if f["kind"] == "sequence"),
            results=before.results + sum(part.rows for part in staged),
            parts=parts if self.staging is not None else (),
            sink=self.sink.name,
            sink_length=before.sink_length + sum(part.size for part in before.parts),
            inner=before.inner,
            total_shed=self._shed_after(facts),
            weighted=tuple(sorted(self.layout.weighted)),
            sampled=tuple(sorted(self.layout.sampled)),
            is_anew=self.routing.is_anew,
            kept=with_rows(before.kept, self._read_sources.values(), facts),
            screened=self._screened_after(facts),
        )

    def _shed_after(self, facts: Facts) -> dict[str, int]:
        """What each drop box has shed by now."""
        total = {alias: 0 for alias, _ in self.plan.drops.kept} | dict(self.manifest.total_shed)
        for fact in facts:
            if fact["kind"] == "shed":
                total[fact["alias"]] = total.get(fact["alias"], 0) + fact["rows"]
        return total

    def _screened_after(self, facts: Facts) -> dict[str, tuple[int, int]]:
        """How many tuples have come to the filters of each input by now, and how many passed."""
        total = dict(self.manifest.screened)
        for fact in facts:
            if fact["kind"] == "screened":
                taken, passed = total.get(fact["alias"], (0, 0))
                total[fact["alias"]] = (taken + fact["taken"], passed + fact["passed"])
        return total

    # Time

    def _streams_after(self, facts: Facts, silent: frozenset[str]) -> dict[str, StreamState]:
        streams = after_reading(self.manifest.streams, facts)
        silent = still_silent(silent, facts)
        frontier = frontier_of(self._sources.values(), streams, silent)
        for name in silent if frontier > -FOREVER else ():
            old = streams.get(name, StreamState())
            streams[name] = dataclasses.replace(old, passed=later_of(old.passed, frontier))
        return streams

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

    def _with_inner_state(self, number: int, run: Runner) -> Manifest:
        """The state before a batch, with exactly the inner state that the plan needs, and with the
        interval table of a view that is not computed anew.

        What is missing is rebuilt from the inputs' windows. It becomes final with the batch.
        """
        is_snapshot = self.plan.query.view is not None and self.plan.query.is_sequenced
        wanted = () if is_snapshot else tuple(inner.module for inner in self.routing.inners)
        there = set(self.manifest.inner)
        lacks_intervals = self.manifest.is_anew and not self.routing.is_anew
        is_there = (
            there.issuperset(wanted)
            and self.layout.weighted == set(self.manifest.weighted)
            and self.layout.sampled == set(self.manifest.sampled)
            and not lacks_intervals
        )
        useless = there.difference(wanted if is_there else ())
        useless |= {INTERVALS} if self.routing.is_anew else set()
        modules = {m: p for m, p in self.manifest.modules.items() if m not in useless}
        before = dataclasses.replace(self.manifest, modules=modules, inner=wanted)
        if is_there or not modules or not (wanted or lacks_intervals):
            return before
        facts = run(self._rebuilding(number, before, lacks_intervals))
        raise_error(facts)
        self.checkpoint.store.remove(_passing(facts))
        return dataclasses.replace(before, modules=modules_after(modules, facts, {}))

    def _rebuilding(self, number: int, before: Manifest, lacks_intervals: bool) -> Job:
        """A job that makes inner state, with all results where intervals are to be made too."""
        plan = self.routing
        if plan.rusters:
            # What is kept has no rusters any more; whatever the route, the results are the same.
            plan = routing_of(default_plan(self.plan.query), self.layout)
        routes = tuple(r for r in plan.routes if r.makes or lacks_intervals)
        routing = Routing(routes, plan.inners)
        batch = self._batch(number, before)
        batch = dataclasses.replace(batch, routing=routing, merges={}, rebuilds=True)
        if batch.due is None or not lacks_intervals:
            return Job(batch)
        return Job(batch, view=ViewStep(batch, batch.due))

    def _recover(self, overwrite: bool) -> None:
        """After a crash: show what is final, remove what is not."""
        shown = Sink.named(self.manifest.sink) if self.manifest.sink else None
        is_new = shown != self.sink
        if shown is not None:
            publish(shown, self.manifest)
            clean(staging_of(shown, self.checkpoint.store, self.checkpoint.mark))
        prepare(self.sink, self.checkpoint.mark, is_new=is_new, overwrite=overwrite)
        if is_new:
            length = length_of(self.sink)
            self.manifest = dataclasses.replace(self.manifest, sink_length=length, parts=())
        store = self.checkpoint.store
        publish_kept(store, self.manifest.kept)
        sources = self._read_sources.values()
        kept = prepare_keeping(sources, self.manifest, self.sink, overwrite=overwrite)
        self.manifest = dataclasses.replace(self.manifest, kept=kept)
        listed = {chunk.name for chunk in self.manifest.chunks()}
        store.remove([name for name in store.names("state") if name not in listed])
        store.remove(store.names("transit"))
        clean(self.staging)
        clean_kept(store)

    def _sweep(self, before: Iterable[ChunkInfo], facts: Facts) -> None:
        """Delete what the batch made unreachable; a batch that runs again needs none of it."""
        store = self.checkpoint.store
        kept = {chunk.name for chunk in self.manifest.chunks()}
        made = [f["chunk"]["name"] for f in facts if f["kind"] == "chunk" and f["chunk"]]
        gone = {*made, *(chunk.name for chunk in before)} - kept
        store.remove([*gone, *_passing(facts)])
        manifests.forget(store, before=self.manifest.batch - 1)
        store.remove([f"decisions/{self.manifest.batch:012d}.json"])
        last = serving_name(self.manifest.batch)
        store.remove([name for name in store.names("feed") if name <= last])
        clean(self.staging)
        if any(fact["kind"] == "kept" for fact in facts):
            clean_kept(store)
        now = time.monotonic()
        for fact in facts:
            if fact["kind"] == "read" and fact["rows"]:
                self._last_seen[fact["source"]] = now

    def _summary(self, before: Manifest, seconds: float) -> Report:
        now = self.manifest
        tables = [
            name
            for name, state in now.streams.items()
            if name not in self._sources and (state.malformed or state.unreadable)
        ]
        names = [*self._sources, *tables]
        old = {name: before.streams.get(name, StreamState()) for name in names}
        new = {name: now.streams.get(name, StreamState()) for name in names}
        frontier = frontier_of(self._sources.values(), now.streams)
        return Report(
            batch=now.batch,
            seconds=seconds,
            read={name: new[name].met - old[name].met for name in names},
            late={name: new[name].late - old[name].late for name in names},
            malformed={name: new[name].malformed - old[name].malformed for name in names},
            results=now.results - before.results,
            state_tuples=now.state_tuples,
            frontier=None if abs(frontier) >= FOREVER else frontier,
            total_results=now.results,
            shed={
                alias: n - before.total_shed.get(alias, 0) for alias, n in now.total_shed.items()
            },
            total_shed=now.total_shed,
            unreadable={name: new[name].unreadable - old[name].unreadable for name in names},
            newest={name: new[name].highest for name in self._sources},
            waiting=waiting_for(self.plan.query, now) if now.results == before.results else None,
        )


def _warn(facts: Facts) -> None:
    """Name the files that a batch had to leave out."""
    found = [fact for fact in facts if fact["kind"] == "unreadable"]
    for fact in found[:_NAMED]:
        _LOG.warning("%s: dropped a file: %s", fact["source"], fact["reason"])
    if found[_NAMED:]:
        _LOG.warning("and %s files more", f"{len(found) - _NAMED:,}")


def _passing(facts: Facts) -> list[str]:
    """The chunks that only the rounds of one batch have read."""
    return list({f["chunk"]["name"] for f in facts if f["kind"] in ("ring", "lives")})
