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
    for name in rows.schema.names:
        columns |= _folded(rows, name, ids, firsts)
    return pa.RecordBatch.from_arrays([columns[n] for n in rows.schema.names], rows.schema.names)


def _folded(rows: pa.RecordBatch, name: str, ids: Int64s, firsts: Int64s) -> Columns:
    column = rows.column(name)
    kind, _, argument = name.partition(":")
    match kind:
        case "=n" | "=c":
            return {name: pa.array(counts_by(ids, len(firsts), column.to_numpy()))}
        case "=s":
            errors = rows.column(f"=e:{argument}").to_numpy()
            high, low = sums_by(ids, len(firsts), column.to_numpy(), errors)
            return {name: pa.array(high), f"=e:{argument}": pa.array(low)}
        case "=e":
            return {}
        case "=min" | "=max":
            keys, known = ranks(column, is_max=kind == "=max")
            return {name: chosen(column, least_by(ids, len(firsts), keys, known))}
        case "=r":
            return {name: as_lists(rows_by(ids, len(firsts), as_rows(column)))}
        case "=b":
            return {name: pa.array(bits_by(ids, len(firsts), column.to_numpy()))}
    return {name: column.take(pa.array(firsts))}


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
