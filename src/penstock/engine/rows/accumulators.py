"""Accumulators: fold rows that are equal but for their lanes into one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.rows.lanes import Lane, LaneKind, is_lane
from penstock.engine.rows.list_lanes import is_list_lane, merged_lists
from penstock.kernels.aggregates.wide_numbers import narrowed
from penstock.kernels.exact_sum import Words, as_words, from_words, sums_by, words_by
from penstock.kernels.grouping import (
    bits_by,
    counts_by,
    least_by,
    number_groups,
    order_keys,
    rows_by,
)

Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]
Columns = dict[str, pa.Array]


def fold(rows: pa.RecordBatch) -> pa.RecordBatch:
    """One row for all that are equal but for their lanes."""
    return folded_by(rows, *groups_of(rows))


def groups_of(rows: pa.RecordBatch) -> tuple[Int64s, Int64s]:
    """Which rows are equal but for their lanes: the group of each, and the first row of each."""
    keys = [rows.column(name) for name in rows.schema.names if not is_lane(name)]
    return number_groups(keys, len(rows))


def folded_by(rows: pa.RecordBatch, ids: Int64s, firsts: Int64s) -> pa.RecordBatch:
    """One row for each of the groups."""
    if len(firsts) == len(rows):
        return rows
    columns: Columns = {}
    groups, places = Groups(ids, len(firsts)), pa.array(firsts)
    for name in rows.schema.names:
        lane = Lane.parse(name) if is_lane(name) else None
        if lane is None:
            columns[name] = rows.column(name).take(places)
        elif is_list_lane(lane):
            columns[name] = merged_lists(lane.kind, rows.column(name), ids, len(firsts))
        else:
            columns |= reduced(rows, lane, groups)
    return pa.RecordBatch.from_arrays([columns[n] for n in rows.schema.names], rows.schema.names)


class Reduction(Protocol):
    """A way to take rows together, and the value of each kind of lane then."""

    def counts(self, lane: pa.Array) -> Int64s:
        """The sums of counts."""

    def sums(self, high: pa.Array, low: pa.Array) -> tuple[Floats, Floats]:
        """The exact sums."""

    def decimals(self, sums: pa.Array) -> pa.Array:
        """The exact sums of DECIMALs."""

    def extremes(self, values: pa.Array, *, is_max: bool) -> pa.Array:
        """The least or largest values, NULL where there is none."""

    def words(self, lane: pa.Array) -> Words:
        """The exact sums of wide numbers, one a row."""

    def rows(self, lane: pa.Array) -> Floats:
        """The sums of lists, one a row."""

    def bits(self, lane: pa.Array) -> Int64s:
        """The bits of any row."""


@dataclass(frozen=True)
class Groups:
    """The group of each row, numbered from 0 to `count` − 1: those of one are taken together."""

    ids: Int64s
    count: int

    def counts(self, lane: pa.Array) -> Int64s:
        """The sum of counts in each group."""
        return counts_by(self.ids, self.count, lane.to_numpy())

    def sums(self, high: pa.Array, low: pa.Array) -> tuple[Floats, Floats]:
        """The exact sum in each group."""
        return sums_by(self.ids, self.count, high.to_numpy(), low.to_numpy())

    def decimals(self, sums: pa.Array) -> pa.Array:
        """The exact sum of DECIMALs in each group."""
        return from_words(words_by(self.ids, self.count, as_words(sums)), sums.type.scale)

    def extremes(self, values: pa.Array, *, is_max: bool) -> pa.Array:
        """The least or largest value in each group, NULL where there is none."""
        rows = least_by(self.ids, self.count, *ranks(values, is_max=is_max))
        return chosen(values, rows)

    def words(self, lane: pa.Array) -> Words:
        """The exact sum of wide numbers in each group, one a row."""
        return narrowed(as_rows(lane), lambda words: words_by(self.ids, self.count, words))

    def rows(self, lane: pa.Array) -> Floats:
        """The sum of lists in each group, one a row."""
        return rows_by(self.ids, self.count, as_rows(lane))

    def bits(self, lane: pa.Array) -> Int64s:
        """The bits of any row of each group."""
        return bits_by(self.ids, self.count, lane.to_numpy())


def reduced(rows: pa.RecordBatch, lane: Lane, by: Reduction) -> Columns:
    """A lane of rows that are taken together, by its name; a sum comes with its error."""
    name = str(lane)
    values = rows.column(name)
    match lane.kind:
        case LaneKind.COUNT | LaneKind.KNOWN | LaneKind.NONFINITE:
            return {name: pa.array(by.counts(values))}
        case LaneKind.SUM if pa.types.is_decimal(values.type):
            return {name: by.decimals(values)}
        case LaneKind.SUM:
            high, low = by.sums(values, rows.column(str(lane.error)))
            return {name: pa.array(high), str(lane.error): pa.array(low)}
        case LaneKind.MIN | LaneKind.MAX:
            return {name: by.extremes(values, is_max=lane.kind is LaneKind.MAX)}
        case LaneKind.TOTAL | LaneKind.SQUARES:
            return {name: as_lists(by.words(values))}
        case LaneKind.ESTIMATE:
            return {name: as_lists(by.rows(values))}
        case LaneKind.MARKS:
            return {name: pa.array(by.bits(values))}
    assert lane.kind is LaneKind.ERROR, "there is no other lane that is reduced"
    return {}


def ranks(column: pa.Array, *, is_max: bool) -> tuple[Int64s, NDArray[np.bool_]]:
    """Numbers of which the least is of the value that is looked for, and which are not NULL."""
    known = column.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_struct(column.type):
        return _pair_ranks(column, is_max=is_max), known
    keys = order_keys(column)
    return (~keys if is_max else keys), known


def _pair_ranks(pairs: pa.StructArray, *, is_max: bool) -> Int64s:
    """Those of pairs: of equal ones the largest value is looked for, whatever the order."""
    by, values = pairs.flatten()
    keys = order_keys(by)
    order = np.lexsort(
        (
            ~order_keys(values),
            values.is_null().to_numpy(zero_copy_only=False),
            ~keys if is_max else keys,
        )
    )
    places: Int64s = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places


def chosen(column: pa.Array, rows: Int64s) -> pa.Array:
    """The values in the given rows, NULL for −1."""
    return column.take(pa.array(rows, mask=rows < 0))


def as_lists(rows: NDArray[Any]) -> pa.Array:
    """Rows of numbers as a column."""
    return pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), rows.shape[1])


def as_rows(column: pa.Array) -> NDArray[Any]:
    """A column of lists as rows of numbers."""
    rows: NDArray[Any] = column.flatten().to_numpy().reshape(len(column), column.type.list_size)
    return rows
