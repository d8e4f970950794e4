"""Sample weights: the lanes of inputs that a drop box sheds, from which views are estimated.

A kept tuple stands for 1/x of its stream, where x is the fraction that was kept when it came. Under
a view it carries that weight and a lot of random bits, from which the view's intervals follow; a
folded row carries the sums of them over its tuples instead. A *quantity* is the exact lane whose
sum over all tuples is estimated: a count, or the known ones or the sum of an argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.rows.accumulators import Columns, as_lists, as_rows
from penstock.engine.rows.columns import is_control
from penstock.engine.rows.lanes import (
    COUNT,
    Lane,
    LaneKind,
    count_of,
    is_lane,
    known_of,
    lot_of,
    marks_of,
    sum_of,
    weight_of,
)
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


def quantities_of(view: View, argument: str) -> tuple[Lane, ...]:
    """The sums that are estimated of one argument: of the known ones, and of their values."""
    asked = view.functions_of(argument)
    known = (known_of(argument),) if asked & {"count", "avg"} else ()
    return (*known, sum_of(argument)) if asked & {"sum", "avg"} else known


def results_quantities(view: View) -> tuple[Lane, ...]:
    """The sums over results that a view's estimates are made of."""
    counts = [COUNT] if any(a.argument is None for a in view.aggregates) else []
    return (*counts, *(lane for each in view.arguments for lane in quantities_of(view, each)))


def sources(query: Query, sampled: frozenset[str]) -> Sources:
    """The sampled inputs that each argument reads, by its name; all of them, if it reads none.

    By no name they are those of a count of rows.
    """
    read = {output.name: sampled & streams_of(output.expression) for output in query.outputs}
    return {name: found or sampled for name, found in read.items()} | {"": sampled}


def sample_columns(alias: str) -> tuple[str, ...]:
    """The columns of sampled tuples."""
    return str(weight_of(alias)), str(lot_of(alias))


def sample_lanes(alias: str, quantities: Iterable[Lane]) -> tuple[Lane, ...]:
    """The lanes of folded rows of a sampled input that has the given quantities."""
    return marks_of(alias), *(quantity.estimate for quantity in quantities)


def drawn(drops: DropBoxes, alias: str, arrivals: Int64s) -> Columns:
    """The weights and lots of tuples that a drop box has let through."""
    fraction = drops.fraction(alias) or 1.0
    weights = np.full(len(arrivals), 1.0 / min(fraction, 1.0))
    tickets = lots(drops.seed, alias, arrivals)
    return dict(zip(sample_columns(alias), (pa.array(weights), pa.array(tickets)), strict=True))


def with_samples(rows: pa.RecordBatch, alias: str, quantities: Iterable[Lane]) -> pa.RecordBatch:
    """Rows of a sampled input; those from before it was shed stand for themselves alone."""
    names = rows.schema.names
    if str(weight_of(alias)) in names or str(marks_of(alias)) in names:
        return rows
    control = [rows.column(name) for name in names if is_control(name)]
    tickets = combine([hash_column(column) for column in control])
    if str(count_of(alias)) not in names:
        added = pa.array(np.ones(len(rows))), pa.array(tickets)
        return appended(rows, dict(zip(sample_columns(alias), added, strict=True)))
    sums = {str(q.estimate): certain(exact_values(rows, q), TUPLES_WIDTH) for q in quantities}
    return appended(rows, {str(marks_of(alias)): pa.array(marks(tickets))} | sums)


def summed(
    tuples: pa.RecordBatch, lanes: pa.RecordBatch, alias: str, quantities: Iterable[Lane]
) -> pa.RecordBatch:
    """The exact lanes of single tuples, with the sums that their samples make of them."""
    weights, tickets = (tuples.column(name).to_numpy() for name in sample_columns(alias))
    sums = {
        str(each.estimate): as_lists(weighed_tuples(exact_values(lanes, each), weights, tickets))
        for each in quantities
    }
    return appended(lanes, {str(marks_of(alias)): pa.array(marks(tickets))} | sums)


def exact_values(rows: pa.RecordBatch, quantity: Lane) -> Floats:
    """The values of a quantity in the exact lanes of rows."""
    column = rows.column(str(quantity))
    if pa.types.is_decimal(column.type):
        exact: Floats = column.cast(pa.float64()).to_numpy()
        return exact
    values: Floats = column.to_numpy().astype(np.float64, copy=False)
    if quantity.kind is LaneKind.SUM:
        values = values + rows.column(str(quantity.error)).to_numpy()
    return values


def certain(values: NDArray[np.generic], width: int) -> pa.Array:
    """Sums that vary by nothing."""
    rows = np.zeros((len(values), width))
    rows[:, 0] = values
    return as_lists(rows)


def as_now_kept(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows of state, with sums as they are now where an earlier version wrote them."""
    for place, name in enumerate(rows.schema.names):
        if is_lane(name) and Lane.parse(name).kind is LaneKind.ESTIMATE:
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
