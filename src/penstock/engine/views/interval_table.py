"""The interval table of a view: what is seen of each group at which ticks, and what changes.

A row of the table stands for join results that are seen at the ticks from `#ts` to `#until`. The
value of a group at a tick is computed from the rows that cover it, never from the value before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.changes.shed_times import Doubt
from penstock.engine.expressions.arrow_types import TIMESTAMP
from penstock.engine.expressions.evaluate import evaluate, holds
from penstock.engine.folding.aggregate_values import aggregate
from penstock.engine.folding.cover import Cover
from penstock.engine.rows.accumulators import Columns, fold
from penstock.engine.rows.columns import ROWS, TS, UNTIL, plain_name
from penstock.engine.rows.lanes import COUNT
from penstock.engine.rows.sample_weights import Sources
from penstock.engine.state.tick_span import TickSpan
from penstock.engine.views.estimates import certain_ends, estimates
from penstock.kernels.grouping import number_groups, pair_ids
from penstock.kernels.ranges import find_ranges
from penstock.query.view import CHANGE, DELETE, TIME, UPSERT, Output, View

Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Versions:
    """The rows of groups as they were shown before some ticks, then as they became at one of them.

    `values` are those of the view's outputs. A change puts the row at a place of `now` where the
    one of `before` was, which is one of those shown or of an earlier change; −1 if the group is not
    shown.
    """

    values: list[pa.Array]
    times: Int64s
    now: Int64s
    before: Int64s
    shown: int
    """How many rows were shown before."""


@dataclass(frozen=True)
class Changes:
    """What the evaluations change, and what is shown of each group after them."""

    versions: Versions
    shown: pa.RecordBatch

    def results(self, outputs: Sequence[Output]) -> pa.RecordBatch:
        """A row for each change, in the order of time: a group that is gone has its last values."""
        order = np.argsort(self.versions.times, kind="stable")
        now, before = self.versions.now[order], self.versions.before[order]
        rows = pa.array(np.where(now >= 0, now, before))
        pairs = zip(outputs, self.versions.values, strict=True)
        columns = {output.name: values.take(rows) for output, values in pairs}
        return with_change(columns, self.versions.times[order], now >= 0)


def with_change(columns: Columns, times: Int64s, is_there: Bools) -> pa.RecordBatch:
    """Results with the time of their evaluation, and whether the row is there from then on."""
    kinds = pa.array(np.where(is_there, UPSERT, DELETE), pa.large_string())
    return pa.RecordBatch.from_pydict(
        columns | {TIME: pa.array(times).cast(TIMESTAMP), CHANGE: kinds}
    )


def remaining(table: pa.RecordBatch, first: int) -> pa.RecordBatch:
    """The rows that are seen at the tick `first` or later, as if they had begun there."""
    left = table.filter(pa.array(table.column(UNTIL).to_numpy() >= first))
    start = pa.array(np.maximum(left.column(TS).to_numpy(), first))
    return fold(left.set_column(left.schema.get_field_index(TS), TS, start))


def shown_name(output: str) -> str:
    """The column with what was last shown of an output."""
    return f"shown {output}"


@dataclass(frozen=True)
class _Lines:
    """The row last shown of each group, then its points, in the order of groups and time.

    `places` are where the values of a line are; −1 if the group is not shown there.
    """

    groups: Int64s
    times: Int64s
    places: Int64s
    is_point: Bools

    @cached_property
    def _follows(self) -> Bools:
        """Whether each line but the first is of the same group as the one before it."""
        follows: Bools = self.groups[1:] == self.groups[:-1]
        return follows

    @cached_property
    def before(self) -> Int64s:
        """The places of the lines before, of the same group."""
        before = np.full(len(self.places), -1)
        before[1:][self._follows] = self.places[:-1][self._follows]
        return before

    def last_of(self, chosen: Bools) -> Int64s:
        """The places of the last chosen lines before each, of the same group."""
        upto = np.maximum.accumulate(np.where(chosen, np.arange(len(chosen)), -1))
        last = np.full(len(chosen), -1)
        last[1:] = upto[:-1]
        is_mine = (last >= 0) & (self.groups[last] == self.groups)
        return np.where(is_mine, self.places[last], -1)

    @property
    def stays(self) -> Bools:
        """Whether a line is the last of its group, and shown."""
        is_last = np.ones(len(self.places), np.bool_)
        is_last[:-1] = ~self._follows
        return is_last & (self.places >= 0)


@dataclass(frozen=True)
class Evaluation:
    """A view at the ticks of a span. There are few of them: where something changes in a group.

    It is estimated from the tuples that were kept of the inputs that are its `sources`, if any;
    others of them were shed where there is `doubt`. If it `has_ends` without that, these are
    certain.
    """

    view: View
    table: pa.RecordBatch
    shown: pa.RecordBatch
    span: TickSpan
    sources: Sources = field(default_factory=dict)
    doubt: Doubt = field(default_factory=Doubt)
    has_ends: bool = False

    def changes(self) -> Changes:
        """The changes of each tick."""
        visible, values = self._values()
        lines = self._lines(visible)
        codes = np.append(number_groups(values, len(self.shown) + len(visible))[0], -1)
        told = lines.is_point & (codes[lines.places] != codes[lines.before])
        before = lines.last_of(told | ~lines.is_point)[told]
        versions = Versions(values, lines.times[told], lines.places[told], before, len(self.shown))
        return Changes(versions, self._shown(values, lines))

    def _lines(self, visible: Int64s) -> _Lines:
        ids, ticks = self._points
        old = len(self.shown)
        places = np.full(old + len(ids), -1)
        places[:old] = np.arange(old)
        places[old + visible] = old + np.arange(len(visible))
        groups = np.concatenate([self._shown_ids, ids])
        times = np.concatenate([np.full(old, self.span.first - 1), ticks])
        order = np.lexsort((times, groups))
        return _Lines(groups[order], times[order], places[order], order >= old)

    # Points: groups at ticks

    @cached_property
    def _groups(self) -> tuple[list[pa.Array], Int64s, Int64s]:
        """The group columns of the table and of what is shown, their groups, and first rows."""
        names = [column.name for column in self.view.groups]
        columns = [
            pa.concat_arrays([self.table.column(name), self.shown.column(name)]) for name in names
        ]
        return (columns, *number_groups(columns, len(self.table) + len(self.shown)))

    @property
    def _row_ids(self) -> Int64s:
        return self._groups[1][: len(self.table)]

    @property
    def _shown_ids(self) -> Int64s:
        return self._groups[1][len(self.table) :]

    @cached_property
    def _bounds(self) -> tuple[Int64s, Int64s]:
        """The first and last tick of the table's rows, as far as they are in the span."""
        first = np.maximum(self.table.column(TS).to_numpy(), self.span.first)
        return first, np.minimum(self.table.column(UNTIL).to_numpy(), self.span.last)

    @cached_property
    def _points(self) -> tuple[Int64s, Int64s]:
        """Where a group may have changed: by group and tick, in order."""
        span, (first, _) = self.span, self._bounds
        after = self.table.column(UNTIL).to_numpy() + span.every
        ids = [self._row_ids, self._row_ids, self._shown_ids]
        ticks = [first, after, np.full(len(self.shown), span.first)]
        if not self.view.groups:
            ids.append(np.zeros(1, np.int64))
            ticks.append(np.array([max(span.begin, span.first)]))
        # Where doubt begins or ends, an interval changes though nothing comes or goes.
        everyone = np.arange(len(self._groups[2])) if self.view.groups else np.zeros(1, np.int64)
        for edge in self.doubt.edges(span):
            if self.view.groups or edge >= span.begin:
                ids.append(everyone)
                ticks.append(np.full(len(everyone), edge))
        all_ids, all_ticks = np.concatenate(ids), np.concatenate(ticks)
        inside = (all_ticks >= span.first) & (all_ticks <= span.last)
        all_ids, all_ticks = all_ids[inside], all_ticks[inside]
        _, once = pair_ids(all_ids, all_ticks)
        all_ids, all_ticks = all_ids[once], all_ticks[once]
        order = np.lexsort((all_ticks, all_ids))
        return all_ids[order], all_ticks[order]

    # Values

    def _values(self) -> tuple[Int64s, list[pa.Array]]:
        """The points that are shown, and the outputs: those shown before, then those of points."""
        ids, _ = self._points
        columns, _, firsts = self._groups
        cover = self._cover()
        counts = cover.counts(self.table.column(str(COUNT)))
        visible = np.flatnonzero(counts > 0) if self.view.groups else np.arange(len(ids))
        places = pa.array(firsts[ids[visible]] if len(firsts) else np.empty(0, np.int64))
        names = [column.name for column in self.view.groups]
        known: Columns = {n: c.take(places) for n, c in zip(names, columns, strict=True)}
        known[ROWS] = pa.nulls(len(visible))
        for name, values in self._aggregates(cover, counts).items():
            known[name] = values.take(pa.array(visible))
        rows = pa.RecordBatch.from_pydict(known)
        if self.view.having is not None:
            held = holds(self.view.having, rows, plain_name)
            visible = visible[held.to_numpy(zero_copy_only=False)]
            rows = rows.filter(held)
        return visible, [
            pa.concat_arrays(
                [self.shown.column(shown_name(o.name)), evaluate(o.expression, rows, plain_name)]
            )
            for o in self.view.outputs
        ]

    def _aggregates(self, cover: Cover, counts: Int64s) -> Columns:
        """The aggregates at each point by name, with the ends of the intervals of estimates."""
        found = {a.name: aggregate(a, self.table, cover, counts) for a in self.view.aggregates}
        if self.sources:
            is_doubted = self.doubt.at(self._points[1])
            found |= estimates(self.view, self.table, cover, self.sources, found, is_doubted)
        elif self.has_ends:
            found |= certain_ends(self.view, found)
        return found

    def _cover(self) -> Cover:
        """Which points each row of the table covers."""
        ids, ticks = self._points
        # Rows are looked for fastest in the order of their groups.
        order = np.argsort(self._row_ids, kind="stable")
        first, last = (bound[order] for bound in self._bounds)
        starts, lengths = np.empty_like(order), np.empty_like(order)
        starts[order], lengths[order] = find_ranges(self._row_ids[order], first, last, ids, ticks)
        return Cover(starts, lengths, len(ids))

    def _shown(self, values: list[pa.Array], lines: _Lines) -> pa.RecordBatch:
        """The last row of each group that has one."""
        columns, _, firsts = self._groups
        rows, ids = pa.array(lines.places[lines.stays]), lines.groups[lines.stays]
        kept: Columns = {TS: pa.array(np.full(len(ids), self.span.last))}
        if columns:
            mine = pa.array(firsts[ids])
            pairs = zip(self.view.groups, columns, strict=True)
            kept |= {column.name: values.take(mine) for column, values in pairs}
        outputs = zip(self.view.outputs, values, strict=True)
        kept |= {shown_name(o.name): v.take(rows) for o, v in outputs}
        return pa.RecordBatch.from_pydict(kept)
