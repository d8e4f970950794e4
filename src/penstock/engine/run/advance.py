"""Advance: the manifest after a batch, from the one before it and the facts of its tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.engine.changes.shed_times import still_seen, widened
from penstock.engine.join.expiry import floors_of, modules_after
from penstock.engine.run.batch_jobs import BatchJobs
from penstock.engine.sinks.malformed_rows import with_rows
from penstock.engine.sinks.publish import as_parts
from penstock.engine.sinks.sink import Sink
from penstock.engine.state.frontier import frontier_of, streams_after
from penstock.engine.state.manifest import Manifest, StagedPart, StreamState
from penstock.engine.wire.facts import Fact, Filtered, Numbered, Shed, of_kind, readings
from penstock.plan.drops import DropBoxes

Facts = Sequence[Fact]


def advanced(
    jobs: BatchJobs,
    before: Manifest,
    facts: Facts,
    silent: frozenset[str],
    *,
    sink: Sink,
    mark: str,
) -> Manifest:
    """The manifest after a batch; `mark` is what the checkpoint signs its files with."""
    query, layout = jobs.plan.query, jobs.layout
    streams = streams_after(query, before.streams, readings(facts), silent)
    floors = floors_of(query, jobs.routing.inners, streams)
    staged = of_kind(facts, StagedPart)
    numbered = [fact.count for fact in of_kind(facts, Numbered)]
    parts = as_parts(sink, mark, jobs.number, staged)
    return Manifest(
        batch=jobs.number,
        modules=modules_after(before.modules, facts, floors),
        streams=streams,
        sequence=before.sequence + sum(numbered),
        results=before.results + sum(part.rows for part in staged),
        parts=parts if jobs.staging is not None else (),
        sink=sink.name,
        sink_length=before.sink_length + sum(part.size for part in before.parts),
        inner=before.inner,
        gaps=before.gaps,
        results_by=before.results_by,
        total_shed=_shed_after(jobs.plan.drops, before, facts),
        weighted=tuple(sorted(layout.weighted)),
        sampled=tuple(sorted(layout.sampled)),
        shed_times=_shed_times_after(jobs, before, facts, streams),
        has_ends=layout.is_estimate or before.has_ends,
        is_recomputed=jobs.routing.is_recomputed,
        kept=with_rows(before.kept, query.sources.values(), facts),
        screened=_screened_after(before, facts),
        renewed=before.renewed,
    )


def _shed_after(drops: DropBoxes, before: Manifest, facts: Facts) -> dict[str, int]:
    """The number of tuples that each drop box has shed by now."""
    total = {alias: 0 for alias, _ in drops.kept} | dict(before.total_shed)
    for fact in of_kind(facts, Shed):
        total[fact.alias] = total.get(fact.alias, 0) + fact.rows
    return total


def _shed_times_after(
    jobs: BatchJobs, before: Manifest, facts: Facts, streams: Mapping[str, StreamState]
) -> dict[str, tuple[int, int]]:
    """When there were drop boxes, as far as a tick still to come may see of it."""
    ticks = jobs.layout.ticks
    if ticks is None:
        return {}
    frontier = frontier_of(jobs.plan.query.stream_sources.values(), streams)
    spans = widened(before.shed_times, facts)
    return still_seen(jobs.layout, spans, ticks.next_after(frontier))


def _screened_after(before: Manifest, facts: Facts) -> dict[str, tuple[int, int]]:
    """How many tuples have come to the filters of each input by now, and how many passed."""
    total = dict(before.screened)
    for fact in of_kind(facts, Filtered):
        taken, passed = total.get(fact.alias, (0, 0))
        total[fact.alias] = (taken + fact.taken, passed + fact.passed)
    return total
