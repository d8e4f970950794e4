"""Lifetimes as positions: every window becomes [birth, death) in the total order of all tuples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.expressions.evaluate import evaluate
from penstock.engine.rows.codes import group_codes
from penstock.engine.rows.columns import ARRIVAL, TS
from penstock.engine.rows.lifetimes import FOREVER, alive_until
from penstock.query import Column, Input, Query, RowsWindow

Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class Lifetimes:
    """The rows of one input in total order, and when each is in its window.

    A stream's row is alive from the position of its birth to before that of its death; a table's
    rows are there before everything, and for ever.
    """

    rows: pa.Table
    births: Int64s
    deaths: Int64s

    def peak(self) -> int:
        """The most rows that are alive at once."""
        gone = np.searchsorted(np.sort(self.deaths), self.births, side="right")
        return int((np.arange(1, len(gone) + 1) - gone).max(initial=0))


def lifetimes_of(
    query: Query, tuples: Mapping[str, pa.Table]
) -> tuple[dict[str, Lifetimes], Int64s]:
    """The lifetimes of each input's rows, and the event times at all positions."""
    rows = {item.alias: _in_order(item, tuples[item.alias]) for item in query.inputs}
    times = np.concatenate([_integers(rows[item.alias], TS) for item in query.streams])
    # Streams stand in FROM order and their rows in their own order, so that a stable sort by time
    # is the total order.
    order = np.argsort(times, kind="stable")
    positions = np.empty(len(times), np.int64)
    positions[order] = np.arange(len(times))
    ends = np.cumsum([len(rows[item.alias]) for item in query.streams])
    births = dict(
        zip((i.alias for i in query.streams), np.split(positions, ends[:-1]), strict=True)
    )
    return {
        item.alias: _lifetimes(item, rows[item.alias], births.get(item.alias), times[order])
        for item in query.inputs
    }, times[order]


def _lifetimes(item: Input, rows: pa.Table, births: Int64s | None, times: Int64s) -> Lifetimes:
    if births is None:
        return Lifetimes(rows, np.full(len(rows), -1), np.full(len(rows), FOREVER))
    if isinstance(item.window, RowsWindow):
        return Lifetimes(rows, births, _pushed_out(item, item.window, rows, births))
    until = alive_until(item.window, _integers(rows, TS))
    return Lifetimes(rows, births, np.searchsorted(times, until, side="right"))


def _pushed_out(item: Input, window: RowsWindow, rows: pa.Table, births: Int64s) -> Int64s:
    """The birth of the row that pushes each one out of its ROWS window."""
    fields = [f for f in item.source.fields if f.name in window.partition_by]
    columns = [evaluate(Column(item.alias, f.name, f.type), rows, lambda c: c.name) for f in fields]
    groups = group_codes(columns, len(births))
    order = np.argsort(groups, kind="stable")
    old, new = order[: -window.count], order[window.count :]
    same = groups[old] == groups[new]
    deaths = np.full(len(births), FOREVER)
    deaths[old[same]] = births[new[same]]
    return deaths


def _in_order(item: Input, rows: pa.Table) -> pa.Table:
    if item.is_table:
        return rows
    order = np.lexsort((_integers(rows, ARRIVAL), _integers(rows, TS)))
    return rows if (order[1:] > order[:-1]).all() else rows.take(pa.array(order))


def _integers(rows: pa.Table, name: str) -> Int64s:
    column: Int64s = rows.column(name).to_numpy()
    return column
