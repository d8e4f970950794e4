"""A view in the laboratory as it is told: its changes at each tick, tuple by tuple until then."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.expressions.arrow_types import TIMESTAMP, arrow_type
from penstock.engine.expressions.evaluate import one_array
from penstock.engine.rows.ticks import Ticks
from penstock.kernels.grouping import number_groups
from penstock.lab.kernels.aggregation import KINDS
from penstock.lab.views.aggregation_join import AggregationWork, LaidOut, event_times, laid_out
from penstock.lab.views.lowering import timed_events
from penstock.lab.views.view_rows import shown_rows
from penstock.plan.plan import Plan
from penstock.query import View
from penstock.query.view import CHANGE, TIME

Int64s = NDArray[np.int64]

_GONE = -1
"""The place of the values of a group that is not shown."""


@dataclass(frozen=True)
class ToldView:
    """The changes of a view in the order of time, as a sink takes them; the work, and the seconds
    that it took here."""

    changes: pa.Table
    work: AggregationWork
    seconds: float


def tell_view(plan: Plan, tuples: Mapping[str, pa.Table]) -> ToldView:
    """Run the multi-way plan of a view over all tuples, and tell it at every tick at which it
    changes, until the last tuple has gone that goes by itself."""
    laid = laid_out(plan, tuples)
    ticks = Ticks.of(laid.plan.query)
    assert ticks is not None, "a view has ticks"
    times = event_times(laid.plan.query, tuples)
    events, signs, at = timed_events(laid.plan.query, laid.able, times)
    lines, counts, seconds = _Lines(laid), np.zeros(KINDS, np.int64), 0.0
    for tick, first, last in _spans(ticks, at, times):
        started = time.perf_counter()
        laid.run(events[first:last], signs[first:last], counts)
        seconds += time.perf_counter() - started
        lines.add(tick, is_first=tick == _begin(ticks, times))
    return ToldView(lines.changes(), AggregationWork(*counts.tolist()), seconds)


def _begin(ticks: Ticks, times: Int64s) -> int:
    """The first tick that sees a tuple: a view without groups is there from then on."""
    return ticks.next_after(int(times[0]))


def _spans(ticks: Ticks, at: Int64s, times: Int64s) -> Iterator[tuple[int, int, int]]:
    """The ticks at which the view may change, each with the events that it is the first to see."""
    if not len(times):
        return
    seen = np.maximum(ticks.first(at), _begin(ticks, times))
    bounds = np.unique(np.append(seen, _begin(ticks, times)))
    ends = np.searchsorted(seen, bounds, side="right")
    starts = np.concatenate([[0], ends[:-1]])
    yield from zip(bounds.tolist(), starts.tolist(), ends.tolist(), strict=True)


@dataclass
class _Lines:
    """What the groups that are touched show, tick after tick: group, tick and place of the values,
    which is −1 where nothing is shown."""

    laid: LaidOut
    values: list[pa.Table] = field(default_factory=list)
    rows: int = 0
    groups: list[Int64s] = field(default_factory=list)
    times: list[Int64s] = field(default_factory=list)
    places: list[Int64s] = field(default_factory=list)

    @property
    def view(self) -> View:
        return self.laid.view

    def add(self, tick: int, *, is_first: bool) -> None:
        """Add the groups that were touched since the tick before."""
        touched = self._taken()
        if not self.view.groups:
            touched = np.zeros(1 if is_first or len(touched) else 0, np.int64)
        if not len(touched):
            return
        laid = self.laid
        there = touched[laid.groups.held[touched] > 0] if self.view.groups else touched
        shown, values = shown_rows(
            laid.plan.query, self.view, laid.able, laid.strides, laid.groups, there
        )
        places = np.full(len(touched), _GONE)
        places[np.searchsorted(touched, shown)] = self.rows + np.arange(len(shown))
        self.values.append(values)
        self.rows += len(shown)
        self.groups.append(touched)
        self.times.append(np.full(len(touched), tick))
        self.places.append(places)

    def _taken(self) -> Int64s:
        """The groups that were touched, in order; from now on none is."""
        groups = self.laid.groups
        touched = np.sort(groups.touched[: groups.listed[0]])
        groups.marked[touched] = False
        groups.listed[0] = 0
        return touched

    def changes(self) -> pa.Table:
        """The lines that differ from the one before of their group, in the order of time."""
        empty = np.empty(0, np.int64)
        groups, times, places = (
            np.concatenate([empty, *each]) for each in (self.groups, self.times, self.places)
        )
        order = np.lexsort((times, groups))
        groups, times, places = groups[order], times[order], places[order]
        before = np.full(len(places), _GONE)
        follows = groups[1:] == groups[:-1]
        before[1:][follows] = places[:-1][follows]
        columns = self._columns()
        codes = np.append(number_groups(list(columns.values()), self.rows)[0], _GONE)
        told = np.flatnonzero(codes[places] != codes[before])
        told = told[np.argsort(times[told], kind="stable")]
        return _as_changes(columns, times[told], places[told], before[told])

    def _columns(self) -> dict[str, pa.Array]:
        if not self.values:
            outputs = self.view.outputs
            return {o.name: pa.array([], arrow_type(o.expression.type)) for o in outputs}
        values = pa.concat_tables(self.values)
        return {name: one_array(values.column(name)) for name in values.schema.names}


def _as_changes(
    columns: Mapping[str, pa.Array], times: Int64s, places: Int64s, before: Int64s
) -> pa.Table:
    """A row for each change; a group that is gone has its last values."""
    rows = pa.array(np.where(places >= 0, places, before))
    told = {name: values.take(rows) for name, values in columns.items()}
    kinds = pa.array(np.where(places >= 0, "upsert", "delete"), pa.large_string())
    return pa.table({**told, TIME: pa.array(times).cast(TIMESTAMP), CHANGE: kinds})
