"""Tally: join results as the rows of a view's interval table, by group and ticks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.expressions.evaluate import evaluate
from penstock.engine.join.batch import Batch
from penstock.engine.join.legs import Partial
from penstock.engine.rows.accumulators import (
    Columns,
    Groups,
    fold,
    folded_by,
    groups_of,
)
from penstock.engine.rows.columns import ROWS, TS, UNTIL, column_name, group_name
from penstock.engine.rows.lanes import COUNT, count_of
from penstock.engine.rows.layout import Layout
from penstock.engine.rows.sample_weights import appended
from penstock.engine.rows.value_lanes import lanes_of, multiplied, value_lanes
from penstock.engine.views.replicated import replicated
from penstock.engine.wire.exchange import hash_values, scatter
from penstock.engine.wire.packets import Packet
from penstock.engine.wire.tags import TALLY
from penstock.kernels.grouping import number_groups
from penstock.kernels.hashing import combine, partition_of
from penstock.query.view import View

Int64s = NDArray[np.int64]

# Rows that are held before they are folded again: a few slices of results.
_HELD = 1 << 17


class Tally:
    """Collects the results that one partition finds, folded by group and ticks."""

    def __init__(self, batch: Batch):
        self._batch = batch
        self._held: list[pa.RecordBatch] = []
        self._rows = 0
        self._limit = _HELD

    def add(self, found: Partial) -> None:
        """Add complete results."""
        rows = tallied(self._batch.layout, found, self._batch.open_tick)
        self._held.append(rows)
        self._rows += len(rows)
        if self._rows >= self._limit:
            self._fold()
            # Where little can be folded, folding is not tried over and over.
            self._limit = 2 * self._rows + _HELD

    def close(self) -> Iterator[Packet]:
        """The rows collected, to where the groups are kept."""
        self._fold()
        batch = self._batch
        view = batch.layout.query.view
        assert view is not None
        base = batch.layout.view_space * batch.partitions
        for rows in self._held:
            if len(rows):
                places = _placed(view, rows, batch.partitions)
                yield from scatter(rows, places, TALLY, base, batch.partitions)

    def _fold(self) -> None:
        if len(self._held) > 1:
            self._held = [fold(pa.concat_batches(self._held))]
            self._rows = len(self._held[0])


def tallied(layout: Layout, found: Partial, open_tick: int) -> pa.RecordBatch:
    """Results by group and by the ticks at which they are seen, from the next one on."""
    view, ticks = layout.query.view, layout.ticks
    assert view is not None
    assert ticks is not None
    first = np.maximum(ticks.first(found.control[TS]), open_tick)
    last = ticks.last(found.control[UNTIL])
    seen = first <= last
    if not seen.all():
        found, first, last = found.take(np.flatnonzero(seen)), first[seen], last[seen]
    values = output_columns(layout, found)
    columns: Columns = {column.name: values[column.name] for column in view.groups}
    columns |= {TS: pa.array(first), UNTIL: pa.array(last)}
    columns |= _lanes(layout, view, found, values)
    rows = pa.RecordBatch.from_pydict(columns)
    if not layout.sampled:
        return fold(rows)
    ids, firsts = groups_of(rows)
    estimates = replicated(layout, found.payload, values, Groups(ids, len(firsts)))
    return appended(folded_by(rows, ids, firsts), estimates)


def output_columns(layout: Layout, found: Partial) -> Columns:
    """The outputs of the join by name, but for those in lanes."""
    payload = found.payload
    if not payload.num_columns:
        payload = pa.RecordBatch.from_pydict({ROWS: pa.nulls(len(found))})
    values = {o.name: evaluate(o.expression, payload, column_name) for o in layout.outputs}
    groups = [name for name in layout.owners if layout.is_group(name)]
    return values | {name: payload.column(group_name(name)) for name in groups}


def _lanes(layout: Layout, view: View, found: Partial, values: Columns) -> Columns:
    """Every result counts as often as its rows together stand for tuples (T&L, rule 2).

    An aggregate in the lanes of one input is multiplied by the counts of all the others.
    """
    counts = {a: found.payload.column(str(count_of(a))).to_numpy() for a in sorted(layout.weighted)}
    lanes = {str(COUNT): pa.array(_product(list(counts.values()), len(found)))}
    for name in view.arguments:
        if name in values:
            owner, mine = None, value_lanes(view, name, values[name])
        else:
            owner = layout.owners[name]
            names = [str(lane) for lane in lanes_of(view, name)]
            mine = {lane: found.payload.column(lane) for lane in names}
        others = [count for alias, count in counts.items() if alias != owner]
        lanes |= multiplied(mine, _product(others, len(found))) if others else mine
    return lanes


def _product(counts: list[Int64s], size: int) -> Int64s:
    return np.multiply.reduce(counts) if counts else np.ones(size, np.int64)


def _placed(view: View, rows: pa.RecordBatch, partitions: int) -> Int64s:
    """The partition of each row, which follows from its group."""
    if not view.placed_by:
        return np.zeros(len(rows), np.int64)
    groups = [rows.column(column.name) for column in view.placed_by]
    ids, firsts = number_groups(groups, len(rows))
    parts = [hash_values(column.take(pa.array(firsts))) for column in groups]
    return partition_of(combine(parts), partitions)[ids]
