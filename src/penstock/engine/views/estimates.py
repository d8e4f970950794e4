"""Estimates: what a view would be over all tuples, from those that were kept.

COUNT and SUM are Horvitz-Thompson sums and AVG is their ratio. Each has an interval that holds the
true value in 95 of 100 cases, where what was kept tells enough for one (see `confidence`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.expressions.decimal_cast import to_decimal
from penstock.engine.folding.aggregate_values import whole
from penstock.engine.folding.cover import Cover
from penstock.engine.rows.accumulators import Columns
from penstock.engine.rows.lanes import COUNT, Lane, known_of, marks_of, sum_of
from penstock.engine.rows.sample_weights import Sources, results_quantities
from penstock.engine.views.confidence import Ends, mean_ends, sum_ends
from penstock.errors import EvaluationError
from penstock.kernels.replicates import marked, totals
from penstock.query.intervals import ENDS, end_name
from penstock.query.view import Aggregate, View

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Digits of an interval's width, of which it knows two or three at the best. Beyond these the order
# shows in which sums are added up; that is no change of a group.
_DIGITS = 4
# What is so near to a rounded end, in units of its last digit, has got beyond it by rounding alone.
_NEAR = 1e-4
# How far, relatively, errors of rounding may take a sum from what it is.
_SLACK = 1e-12
# Floats from here on are whole numbers.
_WHOLE = 2.0**52


def estimates(
    view: View,
    rows: pa.RecordBatch,
    cover: Cover,
    sources: Sources,
    kept: Columns,
    is_doubted: Bools,
) -> Columns:
    """The estimates at each point and the ends of their intervals, by the names of aggregates.

    `kept` are the values of what was kept, which are NULL where there is nothing to estimate. Where
    tuples are known to be missing, an estimate is not certain though no kept tuple tells of them.
    """
    sums = {q: cover.rows(rows.column(str(q.estimate))) for q in results_quantities(view)}
    sampled = sorted(frozenset().union(*sources.values()))
    tuples = {alias: marked(cover.bits(rows.column(str(marks_of(alias))))) for alias in sampled}
    columns: Columns = {}
    for each in view.aggregates:
        if each.is_estimable:
            read = sources[each.argument.name if each.argument else ""]
            # Large products may be due to any of the inputs, so each of them has its say.
            usual = np.exp(np.mean([np.log1p(tuples[alias]) for alias in sorted(read)], axis=0))
            is_null = kept[each.name].is_null().to_numpy(zero_copy_only=False)
            plain = _as_floats(kept[each.name])
            with np.errstate(all="ignore"):
                values = _value(each, sums)
                bounds = rounded(_ends(each, sums, plain, usual - 1.0))
            columns[each.name] = _typed(each, values, is_null)
            is_certain = bounds[0] == bounds[1]
            is_unknown = is_null | ~np.isfinite(bounds[0] + bounds[1]) | (is_certain & is_doubted)
            shown = _as_floats(columns[each.name])
            for end, bound in zip(ENDS, bounds, strict=True):
                ends = np.where(is_certain, shown, bound)
                columns[end_name(each, end)] = pa.array(ends, mask=is_unknown)
    return columns


def certain_ends(view: View, values: Columns) -> Columns:
    """The ends of the intervals where nothing was shed: the values themselves."""
    columns: Columns = {}
    for each in view.aggregates:
        if each.is_estimable:
            is_null = values[each.name].is_null().to_numpy(zero_copy_only=False)
            plain = _as_floats(values[each.name])
            is_unknown = is_null | ~np.isfinite(plain)
            for end in ENDS:
                columns[end_name(each, end)] = pa.array(plain, mask=is_unknown)
    return columns


def _as_floats(values: pa.Array) -> Floats:
    """Values of any type; 0 where there is none."""
    found: Floats = values.cast(pa.float64(), safe=False).fill_null(0.0).to_numpy()
    return found


def _typed(of: Aggregate, values: Floats, is_null: Bools) -> pa.Array:
    """Estimates in the type of the aggregate, rounded if that is of whole numbers."""
    if of.type.is_decimal:
        return _of_decimals(of, pa.array(values, mask=is_null))
    if not of.type.is_integer:
        return pa.array(values, mask=is_null).cast(arrow_type(of.type))
    # Half of one is common where all weights are alike; plans that add in another order agree.
    slack = np.minimum(_SLACK * np.abs(values), 0.25)
    rounded = np.where(np.abs(values) < _WHOLE, np.floor(values + 0.5 + slack), values)
    numbers = whole(rounded, np.zeros(len(values)))
    return pa.array(numbers, mask=is_null).cast(arrow_type(of.type))


def _of_decimals(of: Aggregate, values: pa.Array) -> pa.Array:
    decimals = to_decimal(values, arrow_type(of.type))
    if decimals.null_count > values.null_count:
        raise EvaluationError(
            f"the estimate of {of.function.upper()} does not fit {of.type}",
            hint=f"convert what is added up: {of.function.upper()}(CAST(… AS DOUBLE))",
        )
    return decimals


def _ends(of: Aggregate, sums: Mapping[Lane, Floats], kept: Floats, tuples: Floats) -> Ends:
    if of.argument is None:
        return sum_ends(sums[COUNT], kept, tuples)
    name = of.argument.name
    match of.function:
        case "count":
            return sum_ends(sums[known_of(name)], kept, tuples)
        case "sum":
            return sum_ends(sums[sum_of(name)], kept, tuples)
    return mean_ends(sums[sum_of(name)], sums[known_of(name)], tuples)


def _value(of: Aggregate, sums: Mapping[Lane, Floats]) -> Floats:
    if of.argument is None:
        return totals(sums[COUNT])
    name = of.argument.name
    match of.function:
        case "count":
            return totals(sums[known_of(name)])
        case "sum":
            return totals(sums[sum_of(name)])
    return totals(sums[sum_of(name)]) / totals(sums[known_of(name)])


def rounded(ends: Ends) -> Ends:
    """Intervals with ends of a few digits of their width: never narrower than they were."""
    low, high = ends
    is_wide = high > low
    scale = 10.0 ** (_DIGITS - 1 - _magnitude(high - low))
    return (
        np.where(is_wide, np.floor(low * scale + _NEAR) / scale, low),
        np.where(is_wide, np.ceil(high * scale - _NEAR) / scale, high),
    )


def _magnitude(values: Floats) -> Floats:
    found: Floats = np.floor(np.log10(np.where(values == 0, 1.0, np.abs(values))))
    return found
