"""The report of a batch: how much it read, dropped, kept and found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from penstock.engine.reports.parts import (
    Change,
    FigureReport,
    InputReport,
    ModuleReport,
    OperatorReport,
    Prediction,
)
from penstock.engine.rows.lifetimes import FOREVER
from penstock.engine.state.frontier import frontier_of
from penstock.engine.state.manifest import Manifest, StreamState
from penstock.engine.state.no_results import Waiting, why_no_results
from penstock.query import Query


@dataclass(frozen=True)
class Report:
    """The figures of one batch. Those by source have a table too, if a row or file of it was bad.

    The rows that were met are the late ones, the malformed ones, and those that went on to inputs.
    """

    batch: int
    """Number of the batch."""

    seconds: float
    """Wall time that it took."""

    read: Mapping[str, int]
    """Rows that were met, by source."""

    late: Mapping[str, int]
    """Rows that came too late, by source."""

    malformed: Mapping[str, int]
    """Rows that could not be read, by source."""

    results: int
    """Results of the batch."""

    state_tuples: int
    """Rows in the state after it."""

    frontier: int | None
    """Event time that no stream goes back behind, microseconds; None as long as it is unknown."""

    total_results: int
    """Results of all batches so far."""

    shed: Mapping[str, int] = field(default_factory=dict)
    """Tuples that were shed, by each input with a drop box, now or in an earlier batch."""

    total_shed: Mapping[str, int] = field(default_factory=dict)
    """Tuples that were shed in all batches so far, by the same inputs."""

    unreadable: Mapping[str, int] = field(default_factory=dict)
    """Files of which no row could be met, or not the last ones, by source."""

    newest: Mapping[str, int | None] = field(default_factory=dict)
    """Highest event time so far, by stream; None before its first tuple."""

    waiting: Waiting | None = None
    """Why there are no results, if there are none and the figures tell."""

    at: float = 0.0
    """When it was final, seconds since the epoch."""

    span: float | None = None
    """Seconds of event time that it moved the newest tuple on; None for the first."""

    cpu: float = 0.0
    """CPU-seconds of all its tasks."""

    compiling: float = 0.0
    """Seconds of it that went into compiling and loading inner loops; later batches need not."""

    phases: Mapping[str, float] = field(default_factory=dict)
    """Wall seconds by phase: wait, feed, rebuild, pack, round 0 and on, view, commit, publish, and
    spark for what Spark needs beside the tasks."""

    busy: float | None = None
    """The part of the clock since the batch before that was not spent waiting, 0 to 1."""

    delay: float | None = None
    """Seconds from when its oldest data could be read until its results were shown."""

    backlog: Mapping[str, int] = field(default_factory=dict)
    """Pieces of each source (files, blocks) that are there and were not read yet."""

    inputs: Mapping[str, InputReport] = field(default_factory=dict)
    """The inputs, by alias."""

    operators: tuple[OperatorReport, ...] = ()
    """The operators of all routes."""

    modules: Mapping[str, ModuleReport] = field(default_factory=dict)
    """The state by module."""

    plan: str = ""
    """The text of the plan that the batch followed."""

    prediction: Prediction | None = None
    """What was expected of that plan."""

    figures: tuple[FigureReport, ...] = ()
    """The figures of the streams as they stand."""

    stats: Mapping[str, object] = field(default_factory=dict)
    """The same as the tables of a stats file."""

    changes: tuple[Change, ...] = ()
    """What was decided since the batch before, and why."""

    filling: tuple[str, ...] = ()
    """Modules of the plan's inner state that fill themselves; another plan gave the results."""

    members: Mapping[str, Report] = field(default_factory=dict)
    """Of a script, the report of each of its queries, by name."""

    @property
    def every_change(self) -> tuple[Change, ...]:
        """What was decided or noticed; also in the queries of a script, with their names."""
        own = (_of_query(n, c) for n, each in self.members.items() for c in each.changes)
        return (*self.changes, *own)

    @property
    def lag(self) -> int | None:
        """How far the frontier is behind the newest tuple of all, in event time (µs)."""
        known = [time for time in self.newest.values() if time is not None]
        if self.frontier is None or not known:
            return None
        return max(max(known) - self.frontier, 0)


def report_of(query: Query, before: Manifest, now: Manifest, seconds: float) -> Report:
    """The report of the batch between two manifests."""
    streams = query.stream_sources
    tables = [
        name
        for name, state in now.streams.items()
        if name not in streams and (state.malformed or state.unreadable)
    ]
    names = [*streams, *tables]
    old = {name: before.streams.get(name, StreamState()) for name in names}
    new = {name: now.streams.get(name, StreamState()) for name in names}
    frontier = frontier_of(streams.values(), now.streams)
    shed_before = before.total_shed
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
        shed={alias: n - shed_before.get(alias, 0) for alias, n in now.total_shed.items()},
        total_shed=now.total_shed,
        unreadable={name: new[name].unreadable - old[name].unreadable for name in names},
        newest={name: new[name].highest for name in streams},
        waiting=why_no_results(query, now) if now.results == before.results else None,
        filling=tuple(map(str, now.gaps)),
    )


def _of_query(name: str, change: Change) -> Change:
    """A change with the name of the query that it is of."""
    if change.plan is None:
        return replace(change, reason=f"{name}: {change.reason}")
    return replace(change, plan=f"{name}: {change.plan}")
