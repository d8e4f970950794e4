"""Moments: variances and standard deviations at each point, rounded once from exact sums."""

from __future__ import annotations

from math import inf, nan, sqrt

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.folding.cover import Cover
from penstock.engine.rows.lanes import Lane, LaneKind
from penstock.kernels.aggregates.wide_numbers import UNIT
from penstock.kernels.exact_sum import Words
from penstock.query.types import DataType
from penstock.query.view import Aggregate

Int64s = NDArray[np.int64]


def moment(of: Aggregate, rows: pa.RecordBatch, cover: Cover, known: Int64s) -> pa.Array:
    """VAR_SAMP and the like; NULL where too few values are known, NaN where one is not finite."""
    assert of.argument is not None, "moments are of values"
    name, is_sample = of.argument.name, of.function.endswith("samp")
    totals = _whole(cover.words(rows.column(str(Lane(LaneKind.TOTAL, name)))))
    squares = _whole(cover.words(rows.column(str(Lane(LaneKind.SQUARES, name)))))
    units = _squared_units(of.argument.type)
    found = [
        None if n <= is_sample else _variance(n, total, square, (n - is_sample) * units)
        for n, total, square in zip(known.tolist(), totals, squares, strict=True)
    ]
    if of.argument.type.is_floating:
        is_odd = cover.counts(rows.column(str(Lane(LaneKind.NONFINITE, name)))) > 0
        found = [
            nan if odd and value is not None else value
            for odd, value in zip(is_odd.tolist(), found, strict=True)
        ]
    if of.function.startswith("stddev"):
        found = [None if value is None else sqrt(value) for value in found]
    return pa.array(found, pa.float64())


def _variance(count: int, total: int, squares: int, divisor: int) -> float:
    """`Σ(x − x̄)² = Σx² − (Σx)²/n`, exactly, over a divisor: rounded once, as whole numbers are."""
    try:
        return (count * squares - total * total) / (count * divisor)
    except OverflowError:
        return inf


def _squared_units(type_: DataType) -> int:
    """How many units of the words make up one, squared."""
    if type_.is_floating:
        return 1 << (2 * UNIT)
    return 10 ** (2 * type_.digits[1]) if type_.is_decimal else 1


def _whole(words: Words) -> list[int]:
    """Wide numbers as Python's."""
    return [int.from_bytes(row.tobytes(), "little", signed=True) for row in words]
