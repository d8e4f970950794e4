"""The step of a view: results go into its table, and the ticks that are due are evaluated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from penstock.engine.changes.changed_keys import ChangedKeys
from penstock.engine.changes.shed_times import Doubt, widened
from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.join.batch import Batch
from penstock.engine.rows.columns import TS, UNTIL
from penstock.engine.rows.lanes import COUNT
from penstock.engine.rows.sample_weights import appended, sources
from penstock.engine.rows.value_lanes import lane_type, lanes_of
from penstock.engine.sinks.sink import PartWriter
from penstock.engine.sources.derived_rows import DerivedWriter
from penstock.engine.state.modules import ALL_ROWS, INTERVALS, SHOWN, Module
from penstock.engine.state.store import read_rows
from penstock.engine.state.tick_span import DueTicks, TickSpan
from penstock.engine.views.candidates import candidates, has_candidates
from penstock.engine.views.first_rows import FirstRows, with_all_rows
from penstock.engine.views.interval_table import Evaluation, remaining, shown_name
from penstock.engine.views.replicated import certain_lanes, result_lanes
from penstock.engine.wire.chunks import keep_chunk
from penstock.engine.wire.facts import ChangesTold, Fact, readings
from penstock.engine.wire.packets import (
    Packet,
    pack_fact,
    sort_out,
    unpack_facts,
    unpack_facts_for_steps,
    unpack_rows,
)
from penstock.engine.wire.tags import READ, TALLY
from penstock.query.traces import trace_of
from penstock.query.view import View


@dataclass(frozen=True)
class ViewStep:
    """The groups of one batch."""

    batch: Batch
    due: DueTicks

    @property
    def view(self) -> View:
        """The view, with all the columns that its results have."""
        view = self.batch.layout.shown.view
        assert view is not None, "only views are evaluated"
        return view

    @cached_property
    def _rows(self) -> View:
        """The view with all its rows, whether or not only the first of them are shown."""
        return with_all_rows(self.view)

    @property
    def _module(self) -> Module:
        """Where the last rows of all groups are."""
        return SHOWN if self.view.top is None else ALL_ROWS

    def run(self, pid: int, packets: Iterable[Packet]) -> Iterator[Packet]:
        """Facts about the groups that one partition keeps."""
        facts, by_tag = sort_out(packets)
        yield from facts
        arrived = unpack_rows(by_tag.get(TALLY, ()))
        table = self._table(pid)
        if arrived is not None:
            table = pa.concat_batches([table, arrived.select(table.schema.names)])
        read = unpack_facts(by_tag.get(READ, ()))
        span = self.due.span(readings(read))
        if not span.is_empty:
            doubt = Doubt.of(self.batch.layout, widened(self.batch.shed_times, read))
            yield from self._evaluated(pid, table, span, doubt, self._changed(facts))
        elif arrived is None:
            return
        if not self.batch.is_snapshot:
            yield from self._kept(INTERVALS, pid, self._remaining(table, span.after))

    def _remaining(self, table: pa.RecordBatch, first: int) -> pa.RecordBatch:
        """The rows of the table that may be seen at the tick `first` or later."""
        left = remaining(table, first)
        if not has_candidates(self.batch.layout.query):
            return left
        return candidates(self.view, left, first)

    def _changed(self, facts: list[Packet]) -> ChangedKeys | None:
        """The keys of groups that may have changed; None if all may have."""
        told = [f for f in unpack_facts_for_steps(facts) if isinstance(f, ChangesTold)]
        if not told:
            return None
        return ChangedKeys.read(trace_of(self.batch.layout.query), self.batch.root, told[0])

    def _evaluated(
        self,
        pid: int,
        table: pa.RecordBatch,
        span: TickSpan,
        doubt: Doubt,
        changed: ChangedKeys | None,
    ) -> Iterator[Packet]:
        if not self.view.groups and pid % self.batch.partitions:
            return
        layout, shown = self.batch.layout, self._shown(pid)
        stays = shown.slice(0, 0)
        if changed is not None and len(shown):
            may_change = changed.of_groups(shown)
            shown, stays = shown.filter(pa.array(may_change)), shown.filter(pa.array(~may_change))
        has_ends = layout.is_estimate
        read = sources(layout.query, layout.sampled) if has_ends and layout.sampled else {}
        changes = Evaluation(self._rows, table, shown, span, read, doubt, has_ends).changes()
        if not len(changes.versions.times):
            return
        now = pa.concat_batches([stays, changes.shown.select(stays.schema.names)])
        if self.view.top is None:
            yield from self._told(pid, changes.results(self.view.outputs))
        else:
            first = FirstRows(self.view, changes.versions, stays).changes(span.last)
            yield from self._told(pid, first.results)
            yield from self._kept(SHOWN, pid, first.shown)
        yield from self._kept(self._module, pid, now)

    def _told(self, pid: int, results: pa.RecordBatch) -> Iterator[Packet]:
        """Results in their files, for the sink and for other queries."""
        writer = PartWriter(self.batch.staging, self.batch.layout.shown)
        derived = DerivedWriter(self.batch.handover)
        writer.write(results)
        derived.write(results)
        written: list[Fact] = [*writer.close(), *derived.close()]
        yield from (pack_fact(pid, each) for each in written)

    # State

    def _table(self, pid: int) -> pa.RecordBatch:
        """The rows kept by group and ticks; results from before an input was shed are certain."""
        rows, names = self._state(INTERVALS, pid), self._empty_table.schema.names
        if rows is None:
            return self._empty_table
        missing = [name for name in names if name not in rows.schema.names]
        return appended(rows, certain_lanes(rows, missing)).select(names) if missing else rows

    def _shown(self, pid: int) -> pa.RecordBatch:
        """The last rows of each group; NULL in a column that was not shown then."""
        rows, schema = self._state(self._module, pid), self._nothing_shown.schema
        if rows is None:
            return self._nothing_shown
        missing = [field for field in schema if field.name not in rows.schema.names]
        nothing = {field.name: pa.nulls(len(rows), field.type) for field in missing}
        return appended(rows, nothing).select(schema.names)

    def _state(self, module: Module, pid: int) -> pa.RecordBatch | None:
        rows = [read_rows(self.batch.root, info) for info in self.batch.chunks_of(module, pid)]
        return rows[0] if rows else None

    def _kept(self, module: Module, pid: int, rows: pa.RecordBatch) -> Iterator[Packet]:
        old = self.batch.chunks_of(module, pid)
        return keep_chunk(self.batch.root, module, pid, rows, replaces=old)

    @cached_property
    def _empty_table(self) -> pa.RecordBatch:
        outputs = {o.name: o.expression.type for o in self.batch.layout.query.outputs}
        columns = {c.name: arrow_type(c.type) for c in self.view.groups}
        columns |= {TS: pa.int64(), UNTIL: pa.int64(), str(COUNT): pa.int64()}
        for name in self.view.arguments:
            for lane in lanes_of(self.view, name):
                columns[str(lane)] = lane_type(lane, arrow_type(outputs[name]))
        return _empty(columns | result_lanes(self.view, self.batch.layout.sampled))

    @cached_property
    def _nothing_shown(self) -> pa.RecordBatch:
        columns = {TS: pa.int64()} | {c.name: arrow_type(c.type) for c in self.view.groups}
        outputs = self._rows.outputs
        return _empty(
            columns | {shown_name(o.name): arrow_type(o.expression.type) for o in outputs}
        )


def _empty(columns: dict[str, pa.DataType]) -> pa.RecordBatch:
    schema = pa.schema(list(columns.items()))
    return pa.RecordBatch.from_arrays(
        [pa.array([], kind) for kind in columns.values()], schema=schema
    )
