"""Lanes: the columns in which rows carry aggregates of what they stand for.

A row of a view's calendar stands for join results, a folded tuple for tuples. What they have in
common is folded by one function: rows that are equal but for their lanes become one.

    =n        how many they are (=n:A, of the tuples of input A)
    =c:x      how many of them have an x that is not NULL
    =s:x =e:x the sum of their x, and the error that it leaves out
    =min:x    the least x, and =max:x the largest

Where streams are shed there are more, for estimates of what all would give: see `samples`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.kernels.exact_sum import Pairs, as_pairs, sums_by
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

COUNT = "=n"


def count_of(alias: str) -> str:
    """The lane with the number of an input's tuples that a row stands for."""
    return f"=n:{alias}"


def is_lane(name: str) -> bool:
    """Whether a column is a lane."""
    return name.startswith("=")


def lanes_of(view: View, argument: str) -> tuple[str, ...]:
    """The lanes that the aggregates of one argument need."""
    asked = {a.function for a in view.aggregates if a.argument and a.argument.name == argument}
    kinds = ["c"]
    kinds += ["s", "e"] if asked & {"sum", "avg"} else []
    kinds += [kind for kind in ("min", "max") if kind in asked]
    return tuple(f"={kind}:{argument}" for kind in kinds)


def value_lanes(view: View, argument: str, values: pa.Array) -> Columns:
    """The lanes of single values."""
    lanes: Columns = {}
    for name in lanes_of(view, argument):
        match name.partition(":")[0]:
            case "=c":
                lanes[name] = values.is_valid().cast(pa.int64())
            case "=s":
                high, low = _pairs(values)
                lanes |= {name: pa.array(high), f"=e:{argument}": pa.array(low)}
            case "=min" | "=max":
                lanes[name] = values
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
        is_own = is_lane(name)
        columns |= reduced(rows, name, groups) if is_own else {name: rows.column(name).take(places)}
    return pa.RecordBatch.from_arrays([columns[n] for n in rows.schema.names], rows.schema.names)


class Reduction(Protocol):
    """Which rows are taken together; what each kind of lane comes to then."""

    def counts(self, lane: pa.Array) -> Int64s:
        """The sums of counts."""

    def sums(self, high: pa.Array, low: pa.Array) -> tuple[Floats, Floats]:
        """The exact sums."""

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


def reduced(rows: pa.RecordBatch, name: str, by: Reduction) -> Columns:
    """A lane, of rows that are taken together; a sum comes with its error."""
    lane = rows.column(name)
    kind, _, argument = name.partition(":")
    match kind:
        case "=n" | "=c":
            return {name: pa.array(by.counts(lane))}
        case "=s":
            high, low = by.sums(lane, rows.column(f"=e:{argument}"))
            return {name: pa.array(high), f"=e:{argument}": pa.array(low)}
        case "=min" | "=max":
            return {name: by.extremes(lane, is_max=kind == "=max")}
        case "=r":
            return {name: as_lists(by.rows(lane))}
        case "=b":
            return {name: pa.array(by.bits(lane))}
    assert kind == "=e", "there is no other lane that is reduced"
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
