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

from penstock.engine.folding.cover import Cover
from penstock.engine.rows.accumulators import Columns, reduced
from penstock.engine.rows.columns import TS, UNTIL
from penstock.engine.rows.lanes import Lane, count_of, is_lane
from penstock.engine.rows.ticks import Ticks
from penstock.engine.state.tick_span import TickSpan
from penstock.kernels.grouping import number_groups, pair_ids
from penstock.kernels.sorting import counting_order

Int64s = NDArray[np.int64]


def segments(alias: str, rows: pa.RecordBatch, ticks: Ticks, span: TickSpan) -> pa.RecordBatch:
    """The segments of a weighted input's rows within a span, in the order of time."""
    first = np.maximum(ticks.first(rows.column(TS).to_numpy()), span.first)
    last = np.minimum(ticks.last(rows.column(UNTIL).to_numpy()), span.last)
    seen = np.flatnonzero(first <= last)
    if len(seen) < len(rows):
        rows, first, last = rows.take(pa.array(seen)), first[seen], last[seen]
    if not len(rows):
        return rows
    names = [n for n in rows.schema.names if not is_lane(n) and n not in (TS, UNTIL)]
    cells, firsts = number_groups([rows.column(name) for name in names], len(rows))
    changes = _Changes.of(cells, len(firsts), first, last + span.every)
    alive = changes.alive(rows.column(str(count_of(alias))))
    taken = pa.array(alive)
    places = pa.array(firsts[changes.cells[alive]])
    columns: Columns = {name: rows.column(name).take(places) for name in names}
    for name in filter(is_lane, rows.schema.names):
        lanes = reduced(rows, Lane.parse(name), changes.cover)
        columns |= {lane: values.take(taken) for lane, values in lanes.items()}
    columns[TS] = pa.array(ticks.born(changes.ticks[alive]))
    # What is alive changes once more, when the last of it has gone.
    columns[UNTIL] = pa.array(ticks.dies(changes.ticks[alive + 1] - span.every))
    return pa.RecordBatch.from_arrays([columns[n] for n in rows.schema.names], rows.schema.names)


@dataclass(frozen=True)
class _Changes:
    """Where a row comes or has gone, by cell and tick, in order; and which of them rows cover.

    `ranks` are the ticks, numbered in their order: there are few of them.
    """

    cells: Int64s
    ranks: Int64s
    times: Int64s
    cover: Cover

    @classmethod
    def of(cls, cells: Int64s, count: int, first: Int64s, gone: Int64s) -> _Changes:
        both = np.concatenate([cells, cells])
        times, ranks = _ranked(np.concatenate([first, gone]))
        order = counting_order(ranks, len(times))
        order = order[counting_order(both[order], count)]
        both, ranks = both[order], ranks[order]
        is_new = np.ones(len(order), np.bool_)
        is_new[1:] = (both[1:] != both[:-1]) | (ranks[1:] != ranks[:-1])
        places = np.empty_like(order)
        places[order] = np.cumsum(is_new) - 1
        starts, ends = places[: len(cells)], places[len(cells) :]
        cover = Cover(starts, ends - starts, int(is_new.sum()))
        return cls(both[is_new], ranks[is_new], times, cover)

    @property
    def ticks(self) -> Int64s:
        return self.times[self.ranks]

    def alive(self, counts: pa.Array) -> Int64s:
        """The changes after which there is something in the cell, in the order of time."""
        found = np.flatnonzero(self.cover.counts(counts) > 0)
        return found[counting_order(self.ranks[found], len(self.times))]


def _ranked(times: Int64s) -> tuple[Int64s, Int64s]:
    """The different times in order, and the number of each time among them."""
    ids, firsts = pair_ids(np.zeros(len(times), np.int64), times)
    order = np.argsort(times[firsts])
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    return times[firsts][order], ranks[ids]
