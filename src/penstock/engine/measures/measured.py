"""A batch measured: its report with all that clocks, facts and manifests tell."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from penstock.duration import MICROS
from penstock.engine.measures.figures_of_batch import inputs_of, modules_of, operators_of
from penstock.engine.measures.sketches import merged
from penstock.engine.measures.watch import Watch
from penstock.engine.reports.report import Report
from penstock.engine.routes.meter import added_up
from penstock.engine.state.manifest import Manifest
from penstock.engine.wire.facts import Fact, KeySketch, OperatorFlow, SortedFacts
from penstock.plan.plan import Plan

# The part of the clock that looking for unread data may take.
_LOOKING = 0.01


def measured(
    report: Report,
    plan: Plan,
    text: str,
    manifests: tuple[Manifest, Manifest],
    facts: Sequence[Fact],
    watch: Watch,
) -> Report:
    """The report of the batch between two manifests, with its times, flows and state; `text` is
    the plan's."""
    before, now = manifests
    clock = time.monotonic() - watch.reported
    at = watch.shown or time.time()
    return replace(
        report,
        at=at,
        span=_span(plan.query.stream_sources, before, now),
        cpu=watch.cpu,
        compiling=watch.compiling,
        phases=dict(watch.phases),
        busy=1.0 - min(watch.phases.get("wait", 0.0) / clock, 1.0) if clock > 0.0 else None,
        delay=None if watch.oldest is None else max(at - watch.oldest, 0.0),
        backlog=watch.backlog(now.offsets, _LOOKING * clock),
        inputs=inputs_of(plan, before, now, facts, clock),
        operators=operators_of(facts),
        modules=modules_of(now),
        plan=text,
    )


def gathered(facts: Iterable[Fact]) -> SortedFacts:
    """Facts by kind, with the flows and the sketches of all tasks put together."""
    told = SortedFacts.of(facts)
    flows, sketches = added_up(told.of_kind(OperatorFlow)), merged(told.of_kind(KeySketch))
    return told.with_kind(OperatorFlow, flows).with_kind(KeySketch, sketches.values())


def _span(streams: Iterable[str], before: Manifest, now: Manifest) -> float | None:
    """Seconds of event time by which the newest tuple of all streams has moved on."""
    old, new = (_newest(streams, manifest) for manifest in (before, now))
    return None if old is None or new is None else (new - old) / MICROS


def _newest(streams: Iterable[str], manifest: Manifest) -> int | None:
    times = [manifest.streams[name].highest for name in streams if name in manifest.streams]
    return max((time for time in times if time is not None), default=None)
