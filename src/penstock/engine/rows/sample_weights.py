"""Samples: what the tuples of an input carry for those that its drop box has shed.

A kept tuple stands for 1/x of its stream, where x is the fraction that was kept when it came. Under
a view it carries that weight and a lot of random bits, from which the view's intervals follow; a
folded row carries the sums of them over its tuples instead.

    =w:A      the weight of a tuple of input A, and its lot in =h:A
    =r:n:A    the weighted number of a row's tuples, with what it varies by
    =r:c:x    the same of those whose x is not NULL, and =r:s:x of the sum of x
    =b:A      which marks the tuples of A have set; they tell how many there are
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.rows.accumulators import Columns, as_lists, as_rows, count_of
from penstock.engine.rows.columns import is_control
from penstock.kernels.drop import lots
from penstock.kernels.hashing import combine, hash_column
from penstock.kernels.replicates import TUPLES_WIDTH, as_now, marks, weighed_tuples
from penstock.plan.drops import DropBoxes
from penstock.query import Query
from penstock.query.expression import streams_of
from penstock.query.view import View

Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]
Sources = Mapping[str, frozenset[str]]


def weight_of(alias: str) -> str:
    """The column with the weights of an input's tuples."""
    return f"=w:{alias}"


def lot_of(alias: str) -> str:
    """The column with the lots of an input's tuples."""
    return f"=h:{alias}"


def marks_of(alias: str) -> str:
    """The lane with the marks of an input's tuples."""
    return f"=b:{alias}"


def sum_of(quantity: str) -> str:
    """The lane with a weighted sum and its replicates."""
    return f"=r:{quantity}"


def quantities_of(view: View, argument: str) -> tuple[str, ...]:
    """The sums that are estimated of one argument: of the known ones, and of their values."""
    asked = {a.function for a in view.aggregates if a.argument and a.argument.name == argument}
    kinds = ["c"] if asked & {"count", "avg"} else []
    kinds += ["s"] if asked & {"sum", "avg"} else []
    return tuple(f"{kind}:{argument}" for kind in kinds)


def results_quantities(view: View) -> tuple[str, ...]:
    """The sums over results that a view's estimates are made of."""
    counts = ["n"] if any(a.argument is None for a in view.aggregates) else []
    arguments = dict.fromkeys(a.argument.name for a in view.aggregates if a.argument)
    return (*counts, *(name for argument in arguments for name in quantities_of(view, argument)))


def sources(query: Query, sampled: frozenset[str]) -> Sources:
    """The sampled inputs that each argument reads, by its name; all of them, if it reads none.

    By no name they are those of a count of rows.
    """
    read = {output.name: sampled & streams_of(output.expression) for output in query.outputs}
    return {name: found or sampled for name, found in read.items()} | {"": sampled}


def sample_columns(alias: str) -> tuple[str, ...]:
    """The columns of sampled tuples."""
    return weight_of(alias), lot_of(alias)


def sample_lanes(alias: str, quantities: Iterable[str]) -> tuple[str, ...]:
    """The lanes of folded rows of a sampled input that has the given quantities."""
    return marks_of(alias), *map(sum_of, quantities)


def drawn(drops: DropBoxes, alias: str, arrivals: Int64s) -> Columns:
    """The weights and lots of tuples that a drop box has let through."""
    fraction = drops.fraction(alias) or 1.0
    weights = np.full(len(arrivals), 1.0 / min(fraction, 1.0))
    tickets = lots(drops.seed, alias, arrivals)
    return dict(zip(sample_columns(alias), (pa.array(weights), pa.array(tickets)), strict=True))


def with_samples(rows: pa.RecordBatch, alias: str, quantities: Iterable[str]) -> pa.RecordBatch:
    """Rows of a sampled input; those from before it was shed stand for themselves alone."""
    names = rows.schema.names
    if weight_of(alias) in names or marks_of(alias) in names:
        return rows
    control = [rows.column(name) for name in names if is_control(name)]
    tickets = combine([hash_column(column) for column in control])
    if count_of(alias) not in names:
        added = pa.array(np.ones(len(rows))), pa.array(tickets)
        return appended(rows, dict(zip(sample_columns(alias), added, strict=True)))
    sums = {sum_of(n): certain(exact_values(rows, n), TUPLES_WIDTH) for n in quantities}
    return appended(rows, {marks_of(alias): pa.array(marks(tickets))} | sums)


def summed(
    tuples: pa.RecordBatch, lanes: pa.RecordBatch, alias: str, quantities: Iterable[str]
) -> pa.RecordBatch:
    """The exact lanes of single tuples, with the sums that their samples make of them."""
    weights, tickets = (tuples.column(name).to_numpy() for name in sample_columns(alias))
    sums = {
        sum_of(name): as_lists(weighed_tuples(exact_values(lanes, name), weights, tickets))
        for name in quantities
    }
    return appended(lanes, {marks_of(alias): pa.array(marks(tickets))} | sums)


def exact_values(rows: pa.RecordBatch, quantity: str) -> Floats:
    """What rows have in their exact lanes of a quantity."""
    kind, _, argument = quantity.partition(":")
    if kind == "s":
        high, low = (rows.column(f"={part}:{argument}").to_numpy() for part in "se")
        values: Floats = high + low
    else:
        values = rows.column(f"={quantity}").to_numpy().astype(np.float64)
    return values


def certain(values: NDArray[np.generic], width: int) -> pa.Array:
    """Sums that vary by nothing."""
    rows = np.zeros((len(values), width))
    rows[:, 0] = values
    return as_lists(rows)


def as_now_kept(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows of state, with sums as they are now where an earlier version wrote them."""
    for place, name in enumerate(rows.schema.names):
        if name.startswith("=r:"):
            before = as_rows(rows.column(name))
            now = as_now(before)
            if now is not before:
                rows = rows.set_column(place, name, as_lists(now))
    return rows


def appended(rows: pa.RecordBatch, more: Columns) -> pa.RecordBatch:
    """Rows with more columns."""
    return pa.RecordBatch.from_arrays(
        [*rows.columns, *more.values()], names=[*rows.schema.names, *more]
    )
