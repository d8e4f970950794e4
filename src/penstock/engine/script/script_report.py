"""The report of a script's batch: the figures of its sources, and the reports of its queries."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

from penstock.duration import MICROS
from penstock.engine.measures.watch import Watch
from penstock.engine.reports.report import Report
from penstock.engine.state.manifest import Manifest, StreamState
from penstock.engine.state.no_results import Waiting
from penstock.query.script import Script
from penstock.query.source import Source


def report_of_script(
    script: Script,
    sources: Iterable[Source],
    both: tuple[Manifest, Manifest],
    members: Mapping[str, Report],
    watch: Watch,
) -> Report:
    """The report of the batch between two manifests; its results are those that are shown.

    The frontier is that of the query which is farthest behind.
    """
    before, now = both
    streams = [source.name for source in sources if not source.is_table]
    old = {name: before.streams.get(name, StreamState()) for name in streams}
    new = {name: now.streams.get(name, StreamState()) for name in streams}
    frontiers = [report.frontier for report in members.values()]
    known = [time for time in frontiers if time is not None]
    clock = time.monotonic() - watch.reported
    at = watch.shown or time.time()
    shown = [members[member.name] for member in script.shown]
    finding = {m.name: members[m.name] for m in script.members if m.takes is None}
    return Report(
        batch=now.batch,
        seconds=0.0,
        read={name: new[name].met - old[name].met for name in streams},
        late={name: new[name].late - old[name].late for name in streams},
        malformed={name: new[name].malformed - old[name].malformed for name in streams},
        unreadable={name: new[name].unreadable - old[name].unreadable for name in streams},
        results=sum(report.results for report in shown),
        total_results=now.results,
        shed=_by_query(finding, lambda report: report.shed),
        total_shed=_by_query(finding, lambda report: report.total_shed),
        state_tuples=sum(report.state_tuples for report in members.values()),
        frontier=min(known) if len(known) == len(frontiers) else None,
        newest={name: new[name].highest for name in streams},
        at=at,
        span=_span(old, new),
        cpu=watch.cpu,
        compiling=watch.compiling,
        phases=dict(watch.phases),
        busy=1.0 - min(watch.phases.get("wait", 0.0) / clock, 1.0) if clock > 0.0 else None,
        delay=None if watch.oldest is None else max(at - watch.oldest, 0.0),
        backlog=watch.backlog(now.offsets, 0.01 * clock),
        waiting=_waiting({member.name: members[member.name] for member in script.shown}),
        plan="; ".join(f"{name}: {report.plan}" for name, report in members.items()),
        members=members,
    )


def streams_after(
    before: Mapping[str, StreamState],
    members: Iterable[tuple[Manifest, Manifest]],
    sources: Collection[str],
) -> dict[str, StreamState]:
    """How far the sources of a script have come, by what its queries, each before the batch and
    after it, say of them: queries come and go, and each counts what it has met itself."""
    found: dict[str, StreamState] = {}
    for old, new in members:
        for name, state in new.streams.items():
            if name in sources and name not in found:
                mine, known = old.streams.get(name, _NONE), before.get(name, _NONE)
                found[name] = _gone_on(known, mine, state)
    return found


def _gone_on(known: StreamState, old: StreamState, new: StreamState) -> StreamState:
    """What is known of a source, gone on as one query says that it has."""
    counts = {n: getattr(known, n) + getattr(new, n) - getattr(old, n) for n in _COUNTS}
    highest = max((t for t in (known.highest, new.highest) if t is not None), default=None)
    return replace(new, highest=highest, **counts)


_NONE = StreamState()
_COUNTS = ("rows", "late", "malformed", "unreadable")


def _by_query(
    members: Mapping[str, Report], counts: Callable[[Report], Mapping[str, int]]
) -> dict[str, int]:
    """Counts of inputs, by the query and the alias."""
    return {
        f"{name}.{alias}": count
        for name, report in members.items()
        for alias, count in counts(report).items()
    }


def _waiting(shown: Mapping[str, Report]) -> Waiting | None:
    """What one of the queries waits for whose results are shown, where none of them has any."""
    if any(report.results for report in shown.values()):
        return None
    waits = ((name, report.waiting) for name, report in shown.items())
    return next((replace(w, reason=f"{name}: {w.reason}") for name, w in waits if w), None)


def _span(old: Mapping[str, StreamState], new: Mapping[str, StreamState]) -> float | None:
    """Seconds of event time by which the newest tuple of all streams has moved on."""
    before, now = (_newest(states.values()) for states in (old, new))
    return None if before is None or now is None else (now - before) / MICROS


def _newest(states: Iterable[StreamState]) -> int | None:
    return max((each.highest for each in states if each.highest is not None), default=None)
