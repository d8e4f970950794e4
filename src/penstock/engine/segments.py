"""Segments: the rows of an input as what is seen of each cell while nothing in it comes or goes.

Rows of one cell (equal in keys, groups and all else that the join reads) are alive at overlapping
times. Joined as they are, each meets each row of the others. As segments, which are disjoint within
a cell, they meet once for every time at which something changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.due import Span
from penstock.engine.lanes import Columns, as_lists, count_of, is_lane
from penstock.engine.layout import TS, UNTIL
from penstock.engine.ticks import Ticks
from penstock.engine.totals import Cover
from penstock.kernels.grouping import number_groups, pair_ids

Int64s = NDArray[np.int64]


def segments(alias: str, rows: pa.RecordBatch, ticks: Ticks, span: Span) -> pa.RecordBatch:
    """The segments of a weighted input's rows within a span, in the order of time."""
    first = np.maximum(ticks.first(rows.column(TS).to_numpy()), span.first)
    last = np.minimum(ticks.last(rows.column(UNTIL).to_numpy()), span.last)
    seen = np.flatnonzero(first <= last)
    rows, first, last = rows.take(pa.array(seen)), first[seen], last[seen]
    if not len(rows):
        return rows
    names = [n for n in rows.schema.names if not is_lane(n) and n not in (TS, UNTIL)]
    cells, firsts = number_groups([rows.column(name) for name in names], len(rows))
    changes = _Changes.of(cells, first, last + span.every)
    counts = changes.cover.counts(rows.column(count_of(alias)))
    alive = np.flatnonzero(counts > 0)
    alive = alive[np.argsort(changes.ticks[alive], kind="stable")]
    columns: Columns = {}
    for name in rows.schema.names:
        columns |= _over(rows, name, changes.cover, firsts[changes.cells])
    columns[TS] = pa.array(ticks.born(changes.ticks))
    # What is alive changes once more, when the last of it has gone.
    columns[UNTIL] = pa.array(ticks.dies(np.roll(changes.ticks, -1) - span.every))
    found = pa.RecordBatch.from_arrays([columns[n] for n in rows.schema.names], rows.schema.names)
    return found.take(pa.array(alive))


@dataclass(frozen=True)
class _Changes:
    """Where a row comes or has gone, by cell and tick, in order; and which of them rows cover."""

    cells: Int64s
    ticks: Int64s
    cover: Cover

    @classmethod
    def of(cls, cells: Int64s, first: Int64s, gone: Int64s) -> _Changes:
        both, ticks = np.concatenate([cells, cells]), np.concatenate([first, gone])
        ids, once = pair_ids(both, ticks)
        order = np.lexsort((ticks[once], both[once]))
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        starts, ends = places[ids[: len(cells)]], places[ids[len(cells) :]]
        cover = Cover(starts, ends - starts, len(order))
        return cls(both[once][order], ticks[once][order], cover)


def _over(rows: pa.RecordBatch, name: str, cover: Cover, places: Int64s) -> Columns:
    """A column at each change: lanes together of all rows there, others as in a row of the cell."""
    column = rows.column(name)
    kind, _, argument = name.partition(":")
    match kind:
        case "=n" | "=c":
            return {name: pa.array(cover.counts(column))}
        case "=s":
            high, low = cover.sums(column, rows.column(f"=e:{argument}"))
            return {name: pa.array(high), f"=e:{argument}": pa.array(low)}
        case "=e":
            return {}
        case "=min" | "=max":
            return {name: cover.extremes(column, is_max=kind == "=max")}
        case "=r":
            return {name: as_lists(cover.rows(column))}
        case "=b":
            return {name: pa.array(cover.bits(column))}
    return {name: column.take(pa.array(places))}
