"""Accumulators: fold rows that are equal but for their lanes into one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.rows.lanes import Lane, LaneKind, is_lane
from penstock.kernels.exact_sum import (
    DIGITS,
    Pairs,
    as_pairs,
    as_words,
    from_words,
    sums_by,
    words_by,
)
from penstock.kernels.grouping import (
    bits_by,
    counts_by,
    least_by,
    number_groups,
    order_keys,
    rows_by,
)
from penstock.query.view import View

Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]
Columns = dict[str, pa.Array]


def lanes_of(view: View, argument: str) -> tuple[Lane, ...]:
    """The lanes that the aggregates of one argument need."""
    asked = view.functions_of(argument)
    kinds = [LaneKind.KNOWN]
    if asked & {"sum", "avg"}:
        # Sums of DECIMALs leave nothing out.
        is_exact = view.type_of(argument).is_decimal
        kinds += [LaneKind.SUM] if is_exact else [LaneKind.SUM, LaneKind.ERROR]
    kinds += [kind for kind in (LaneKind.MIN, LaneKind.MAX) if kind in asked]
    return tuple(Lane(kind, argument) for kind in kinds)


def lane_type(lane: Lane, value: pa.DataType) -> pa.DataType:
    """The type of a lane of values."""
    match lane.kind:
        case LaneKind.KNOWN:
            return pa.int64()
        case LaneKind.SUM if pa.types.is_decimal(value):
            return pa.decimal256(DIGITS, value.scale)
        case LaneKind.SUM | LaneKind.ERROR:
            return pa.float64()
    return value


def value_lanes(view: View, argument: str, values: pa.Array) -> Columns:
    """The lanes of single values."""
    lanes: Columns = {}
    for lane in lanes_of(view, argument):
        match lane.kind:
            case LaneKind.KNOWN:
                lanes[str(lane)] = values.is_valid().cast(pa.int64())
            case LaneKind.SUM if pa.types.is_decimal(values.type):
                lanes[str(lane)] = from_words(as_words(values), values.type.scale)
            case LaneKind.SUM:
                high, low = _pairs(values)
                lanes |= {str(lane): pa.array(high), str(lane.error): pa.array(low)}
            case LaneKind.MIN | LaneKind.MAX:
                lanes[str(lane)] = values
    return lanes


def _pairs(values: pa.Array) -> Pairs:
    """Numbers to be added up, 0 for NULL."""
    if not pa.types.is_floating(values.type):
        return as_pairs(values.cast(pa.int64()).fill_null(0).to_numpy())
    floats = values.cast(pa.float64()).fill_null(0.0).to_numpy()
    return floats, np.zeros(len(floats))


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
        if is_lane(name):
            columns |= reduced(rows, Lane.parse(name), groups)
        else:
            columns[name] = rows.column(name).take(places)
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
        case LaneKind.COUNT | LaneKind.KNOWN:
            return {name: pa.array(by.counts(values))}
        case LaneKind.SUM if pa.types.is_decimal(values.type):
            return {name: by.decimals(values)}
        case LaneKind.SUM:
            high, low = by.sums(values, rows.column(str(lane.error)))
            return {name: pa.array(high), str(lane.error): pa.array(low)}
        case LaneKind.MIN | LaneKind.MAX:
            return {name: by.extremes(values, is_max=lane.kind is LaneKind.MAX)}
        case LaneKind.ESTIMATE:
            return {name: as_lists(by.rows(values))}
        case LaneKind.MARKS:
            return {name: pa.array(by.bits(values))}
    assert lane.kind is LaneKind.ERROR, "there is no other lane that is reduced"
    return {}


def ranks(column: pa.Array, *, is_max: bool) -> tuple[Int64s, NDArray[np.bool_]]:
    """Numbers of which the least is of the value that is looked for, and which are not NULL."""
    keys = order_keys(column)
    known = column.is_valid().to_numpy(zero_copy_only=False)
    return (~keys if is_max else keys), known


def chosen(column: pa.Array, rows: Int64s) -> pa.Array:
    """The values in the given rows, NULL for −1."""
    return column.take(pa.array(rows, mask=rows < 0))


def as_lists(rows: Floats) -> pa.Array:
    """Rows of numbers as a column."""
    return pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), rows.shape[1])


def as_rows(column: pa.Array) -> Floats:
    """A column of lists as rows of numbers."""
    rows: Floats = column.flatten().to_numpy().reshape(len(column), column.type.list_size)
    return rows
