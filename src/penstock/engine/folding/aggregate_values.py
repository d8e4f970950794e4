"""Values of aggregates at each point of a view's interval table, of all rows that cover it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.expressions.decimals import checked, mean
from penstock.engine.rows.accumulators import as_rows, chosen, ranks
from penstock.engine.rows.lanes import Lane, LaneKind, known_of, sum_of
from penstock.errors import EvaluationError
from penstock.kernels.covering import (
    bits_over,
    counts_over,
    least_over,
    rows_over,
    sums_over,
    words_over,
)
from penstock.kernels.exact_sum import as_words, from_words
from penstock.query.view import Aggregate

Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]

# Below this, a float converts to a whole number of 64 bits and leaves room for its error.
_SAFE = 2.0**62


@dataclass(frozen=True)
class Cover:
    """Which of a number of points each row covers: `lengths` of them, from `starts` on."""

    starts: Int64s
    lengths: Int64s
    points: int

    def counts(self, lane: pa.Array) -> Int64s:
        """The sum of counts over each point."""
        return counts_over(self.starts, self.lengths, self.points, lane.to_numpy())

    def sums(self, high: pa.Array, low: pa.Array) -> tuple[Floats, Floats]:
        """The exact sum over each point."""
        return sums_over(self.starts, self.lengths, self.points, high.to_numpy(), low.to_numpy())

    def decimals(self, sums: pa.Array) -> pa.Array:
        """The exact sum of DECIMALs over each point."""
        words = words_over(self.starts, self.lengths, self.points, as_words(sums))
        return from_words(words, sums.type.scale)

    def rows(self, lane: pa.Array) -> Floats:
        """The sum of lists over each point, one a row."""
        return rows_over(self.starts, self.lengths, self.points, as_rows(lane))

    def bits(self, lane: pa.Array) -> Int64s:
        """The bits of any row over each point."""
        return bits_over(self.starts, self.lengths, self.points, lane.to_numpy())

    def extremes(self, values: pa.Array, *, is_max: bool) -> pa.Array:
        """The least or largest value over each point, NULL where there is none."""
        rows = least_over(self.starts, self.lengths, self.points, *ranks(values, is_max=is_max))
        return chosen(values, rows)


def aggregate(of: Aggregate, rows: pa.RecordBatch, cover: Cover, counts: Int64s) -> pa.Array:
    """The value of an aggregate at each point; `counts` are those of all rows there."""
    if of.argument is None:
        return pa.array(counts)
    name = of.argument.name
    known = cover.counts(rows.column(str(known_of(name))))
    match of.function:
        case "count":
            return pa.array(known)
        case "min" | "max":
            values = rows.column(str(Lane(LaneKind(of.function), name)))
            return cover.extremes(values, is_max=of.function == "max")
    lane = sum_of(name)
    if of.type.is_decimal:
        return _of_decimals(of, cover.decimals(rows.column(str(lane))), known)
    high, low = cover.sums(rows.column(str(lane)), rows.column(str(lane.error)))
    if of.function == "avg":
        return pa.array(high / np.maximum(known, 1), mask=known == 0)
    sums = whole(high, low) if of.type.is_integer else high
    return pa.array(sums, mask=known == 0).cast(arrow_type(of.type))


def _of_decimals(of: Aggregate, sums: pa.Array, known: Int64s) -> pa.Array:
    """SUM or AVG of DECIMALs in its own type, NULL where no value is known."""
    sums = pc.if_else(pa.array(known > 0), sums, pa.scalar(None, sums.type))
    wanted = arrow_type(of.type)
    try:
        if of.function == "sum":
            return checked(sums, wanted)
        return mean(sums, known, wanted)
    except pa.ArrowInvalid:
        most = pc.max(pc.abs(sums)).as_py()
        raise EvaluationError(
            f"{of.function.upper()} does not fit {of.type}: the largest sum here is {most:,f}",
            hint=f"convert what is added up: {of.function.upper()}(CAST(… AS DOUBLE))",
        ) from None


def whole(high: Floats, low: Floats) -> Int64s:
    """Exact sums as whole numbers."""
    large = np.abs(high) >= _SAFE
    sums = np.where(large, 0.0, high).astype(np.int64) + np.where(large, 0.0, low).astype(np.int64)
    for place in np.flatnonzero(large):
        exact = int(high[place]) + int(low[place])
        if not -(1 << 63) <= exact < 1 << 63:
            raise EvaluationError(
                f"SUM is {exact:,}, which BIGINT does not hold",
                hint="convert what is added up: SUM(CAST(… AS DOUBLE))",
            )
        sums[place] = exact
    return sums
