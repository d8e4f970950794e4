"""Estimates: what a view would be over all tuples, from those that were kept.

COUNT and SUM are Horvitz-Thompson sums and AVG is their ratio. Each has an interval that holds the
true value in 95 of 100 cases, by the variance of the replicates (see `kernels/replicates`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.arrow_types import arrow_type
from penstock.engine.lanes import Columns
from penstock.engine.samples import marks_of, results_quantities, sum_of
from penstock.engine.totals import Cover, whole
from penstock.kernels.replicates import REPLICATES, marked, squares, totals
from penstock.query.intervals import ENDS, end_name
from penstock.query.view import Aggregate, View

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ends = tuple[Floats, Floats]

# How likely the true value lies within an interval.
CONFIDENCE = 0.95
# Of fewer kept tuples an estimate is too far from normal for an interval.
LEAST_KEPT = 30
# Significant digits of an interval's ends, of which it knows two or three at the best. Beyond these
# the order shows in which replicates are added up, and that is no change of a group.
_DIGITS = 6
# How far, relatively, errors of rounding may take a sum from what it is.
_SLACK = 1e-12
# Floats from here on are whole numbers.
_WHOLE = 2.0**52
# A variance that seems to rest on fewer degrees of freedom is itself ill known, and so are they.
_LEAST_FREEDOM = 4.0


def estimates(
    view: View, rows: pa.RecordBatch, cover: Cover, sampled: Iterable[str], kept: Columns
) -> Columns:
    """The estimates at each point and the ends of their intervals, by the names of aggregates.

    `kept` are the values of what was kept, which are NULL where there is nothing to estimate.
    """
    sums = {name: cover.rows(rows.column(sum_of(name))) for name in results_quantities(view)}
    enough = [marked(cover.bits(rows.column(marks_of(alias)))) >= LEAST_KEPT for alias in sampled]
    is_enough: Bools = reduce(np.logical_and, enough)
    columns: Columns = {}
    for each in view.aggregates:
        if each.is_estimable:
            is_null = kept[each.name].is_null().to_numpy(zero_copy_only=False)
            with np.errstate(all="ignore"):
                values, ends = _estimate(each, sums)
                bounds = [_rounded(end) for end in ends]
            columns[each.name] = _typed(each, values, is_null)
            is_unknown = is_null | ~is_enough | ~np.isfinite(bounds[0] + bounds[1])
            for end, bound in zip(ENDS, bounds, strict=True):
                columns[end_name(each, end)] = pa.array(bound, mask=is_unknown)
    return columns


def _typed(of: Aggregate, values: Floats, is_null: Bools) -> pa.Array:
    """Estimates in the type of the aggregate, rounded if that is of whole numbers."""
    if not of.type.is_integer:
        return pa.array(values, mask=is_null).cast(arrow_type(of.type))
    # Half of one is common where all weights are alike; plans that add in another order agree.
    slack = np.minimum(_SLACK * np.abs(values), 0.25)
    rounded = np.where(np.abs(values) < _WHOLE, np.floor(values + 0.5 + slack), values)
    numbers = whole(rounded, np.zeros(len(values)))
    return pa.array(numbers, mask=is_null).cast(arrow_type(of.type))


def _estimate(of: Aggregate, sums: Mapping[str, Floats]) -> tuple[Floats, Ends]:
    if of.argument is None:
        return _count(sums["n"])
    name = of.argument.name
    match of.function:
        case "count":
            return _count(sums[f"c:{name}"])
        case "sum":
            return _sum(sums[f"s:{name}"])
    return _mean(sums[f"s:{name}"], sums[f"c:{name}"])


def _count(counted: Floats) -> tuple[Floats, Ends]:
    """A count, if anything was; its interval is even in logarithms.

    Products of estimates are skewed: those that are too high also seem to vary more.
    """
    values = totals(counted)
    factor = np.exp(_half(squares(counted)) / values)
    return values, (values / factor, values * factor)


def _sum(summed: Floats) -> tuple[Floats, Ends]:
    """A sum; its interval is even in logarithms too, unless the sum may be of either sign."""
    values, half = totals(summed), _half(squares(summed))
    factor = np.exp(half / values)
    is_sure = half < np.abs(values)
    low = np.where(is_sure, values / factor, values - half)
    return values, (low, np.where(is_sure, values * factor, values + half))


def _mean(summed: Floats, counted: Floats) -> tuple[Floats, Ends]:
    """A ratio, which varies by D = S − (S/C)·C of its parts, over C."""
    count = totals(counted)
    values = totals(summed) / count
    half = _half(squares(summed - values[:, np.newaxis] * counted)) / count
    return values, (values - half, values + half)


def _half(replicates: Floats) -> Floats:
    """Half of an even interval by the squares of its replicates; NaN if their mean is negative.

    The mean V of R squares has 2·V² / var(V) degrees of freedom (Satterthwaite, "An approximate
    distribution of estimates of variance components", 1946): R, or fewer where some results
    outweigh all others.
    """
    # Loaded late: most views are not estimated.
    from scipy.special import stdtrit

    variance = replicates.mean(axis=1)
    noise = replicates.var(axis=1, ddof=1) / REPLICATES
    freedom = np.clip(2 * variance**2 / noise, _LEAST_FREEDOM, REPLICATES)
    quantile = stdtrit(np.where(noise > 0, freedom, REPLICATES), 0.5 + CONFIDENCE / 2)
    half: Floats = quantile * np.sqrt(variance)
    return half


def _rounded(values: Floats) -> Floats:
    """Values to a few significant digits."""
    places = _DIGITS - 1 - np.floor(np.log10(np.where(values == 0, 1.0, np.abs(values))))
    scale = 10.0**places
    rounded: Floats = np.rint(values * scale) / scale
    return rounded
