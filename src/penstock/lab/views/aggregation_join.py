"""Aggregation joins in the laboratory: one tuple after the other, all work counted (T&L Fig. 5).

A new or old tuple updates its window, and its stream's aggregation set where the plan aggregates
it early; finds partners in the windows or aggregation sets of the others, by nested loops or hash;
and updates the groups of the query with what it finds. All plans give the same view.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.rows.columns import TS
from penstock.lab.kernels.aggregation import KINDS, Groups, Items, Tuples, Visits, run_events
from penstock.lab.views.accepted import accepted
from penstock.lab.views.lowering import (
    Able,
    able_rows,
    empty_groups,
    events_of,
    strides_of,
    tuples_and_items,
    visits_of,
)
from penstock.lab.views.view_rows import view_rows
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from penstock.query import Query, View

Int64s = NDArray[np.int64]
BUCKETS = 1021
"""The most buckets of a hash table (T&L's B)."""


@dataclass(frozen=True)
class AggregationWork:
    """Updates of windows, items compared in search of partners, rows compared in search of the one
    to fold into, and of the query's group to update; and the join rows that were found."""

    inserts: int
    expirations: int
    compares: int
    fold_compares: int
    group_compares: int
    join_rows: int

    def seconds(self, probe: float, update: float, group: float) -> float:
        """The seconds of a clock that charges for a compared item, an updated window and a compared
        row of an aggregation set (T&L Table 2: P, U, U_g)."""
        updated = update * (self.inserts + self.expirations)
        return updated + probe * self.compares + group * (self.fold_compares + self.group_compares)


@dataclass(frozen=True)
class AggregationOutcome:
    """The view after the last tuple, with its groups in no special order, and the work."""

    view: pa.Table
    work: AggregationWork


def run_view(
    plan: Plan,
    tuples: Mapping[str, pa.Table],
    *,
    counted_from: int | None = None,
    buckets: int = BUCKETS,
) -> AggregationOutcome:
    """Run the multi-way plan of a view over all tuples, late ones already dropped.

    Tables of tuples are as `laboratory.run` takes them. Work is counted of tuples that come, and of
    those that go, at event times from `counted_from` (µs) on. A hash table has a bucket for each
    key, up to so many `buckets`, and that of the query's groups one for each group of the first
    input that has any.
    """
    laid = laid_out(plan, tuples, buckets)
    times = event_times(laid.plan.query, tuples)
    events, signs = events_of(laid.able, len(times))
    start = 0 if counted_from is None else _first_event(laid.able, times, counted_from)
    before, work = np.zeros(KINDS, np.int64), np.zeros(KINDS, np.int64)
    for part, counts in ((slice(0, start), before), (slice(start, None), work)):
        laid.run(events[part], signs[part], counts)
    query = laid.plan.query
    return AggregationOutcome(
        view_rows(query, laid.view, laid.able, laid.strides, laid.groups),
        AggregationWork(*work.tolist()),
    )


@dataclass(frozen=True)
class LaidOut:
    """A view with its tuples, windows and groups as the kernel takes them; it can be run once."""

    plan: MultiwayJoin
    view: View
    able: Mapping[str, Able]
    strides: Mapping[str, int]
    made: Tuples
    items: Items
    groups: Groups
    visits: Visits

    def run(self, events: Int64s, signs: Int64s, counts: Int64s) -> None:
        """Let some tuples come and go, and count the work."""
        room = np.zeros((2, len(self.able)), np.int64)
        run_events(self.made, self.items, self.groups, self.visits, events, signs, counts, *room)


def laid_out(plan: Plan, tuples: Mapping[str, pa.Table], buckets: int = BUCKETS) -> LaidOut:
    """The view of a plan before anything has come."""
    joined, view = accepted(plan)
    able = able_rows(joined, view, tuples)
    strides, many = strides_of(able)
    each = min(buckets, 1 + max(int(one.keys.max(initial=0)) for one in able.values()))
    made, items = tuples_and_items(joined, view, able, strides, each)
    first = _first_grouped(able)
    in_first = min(buckets, max(1, len(able[first].representatives)))
    groups = empty_groups(many, made.values.shape[1], strides[first], in_first)
    return LaidOut(joined, view, able, strides, made, items, groups, visits_of(joined, view))


def _first_grouped(able: Mapping[str, Able]) -> str:
    """The input whose groups the query's are hashed by: the first that has more than one."""
    first = next(iter(able))
    return next((alias for alias, one in able.items() if len(one.representatives) > 1), first)


def event_times(query: Query, tuples: Mapping[str, pa.Table]) -> Int64s:
    """The event times at all positions."""
    return np.sort(np.concatenate([tuples[i.alias].column(TS).to_numpy() for i in query.streams]))


def _first_event(able: Mapping[str, Able], times: Int64s, since: int) -> int:
    """How many events there are before a time: the tuples that come, and those that go."""
    position = int(np.searchsorted(times, since))
    gone = sum(int((one.deaths < position).sum()) for one in able.values())
    return gone + sum(int((one.births < position).sum()) for one in able.values())
