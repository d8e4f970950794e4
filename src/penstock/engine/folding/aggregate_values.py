"""Values of aggregates at each point of a view's interval table, of all rows that cover it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.expressions.decimals import checked, mean
from penstock.engine.folding.cover import Cover
from penstock.engine.folding.distinct import once
from penstock.engine.folding.moments import moment
from penstock.engine.folding.sketches import distinct_estimate, percentile
from penstock.engine.rows.lanes import Lane, LaneKind, known_of, sum_of
from penstock.errors import EvaluationError
from penstock.query.view import DISTINCT, MOMENTS, Aggregate

Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]

# Below this, a float converts to a whole number of 64 bits and leaves room for its error.
_SAFE = 2.0**62


def aggregate(of: Aggregate, rows: pa.RecordBatch, cover: Cover, counts: Int64s) -> pa.Array:
    """The value of an aggregate at each point; `counts` are those of all rows there."""
    if of.argument is None:
        return pa.array(counts)
    if of.function in DISTINCT:
        return aggregate(*once(of, rows, cover), counts)
    name = of.argument.name
    known = cover.counts(rows.column(str(known_of(name))))
    match of.function:
        case "count":
            return pa.array(known)
        case "approx_count_distinct":
            return distinct_estimate(name, rows, cover)
        case "approx_percentile":
            return percentile(of, rows, cover, known)
        case "min" | "max":
            values = rows.column(str(Lane(LaneKind(of.function), name)))
            return cover.extremes(values, is_max=of.function == "max")
        case "min_by" | "max_by":
            kind = LaneKind(of.function.removesuffix("_by"))
            pairs = rows.column(str(Lane(kind, name)))
            return cover.extremes(pairs, is_max=kind is LaneKind.MAX).flatten()[1]
    if of.function in MOMENTS:
        return moment(of, rows, cover, known)
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
