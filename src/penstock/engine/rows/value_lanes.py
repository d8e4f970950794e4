"""Value lanes: the lanes that the aggregates of an argument need, and those of single values."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.engine.rows.accumulators import Columns, as_lists, as_rows
from penstock.engine.rows.lanes import Lane, LaneKind
from penstock.engine.rows.list_lanes import is_list_lane, list_type, repeated_lists, single_lists
from penstock.kernels.aggregates.wide_numbers import magnitudes, widths
from penstock.kernels.exact_sum import (
    DIGITS,
    Pairs,
    as_pairs,
    as_words,
    from_words,
    scaled,
    words_times,
)
from penstock.query.view import DISTINCT, MOMENTS, View

Int64s = NDArray[np.int64]


def lanes_of(view: View, argument: str) -> tuple[Lane, ...]:
    """The lanes that the aggregates of one argument need."""
    asked, type_ = view.functions_of(argument), view.type_of(argument)
    kinds = [LaneKind.KNOWN]
    if asked & {"sum", "avg"}:
        # Sums of DECIMALs leave nothing out.
        kinds += [LaneKind.SUM] if type_.is_decimal else [LaneKind.SUM, LaneKind.ERROR]
    kinds += [LaneKind.MIN] if asked & {"min", "min_by"} else []
    kinds += [LaneKind.MAX] if asked & {"max", "max_by"} else []
    if asked & MOMENTS:
        kinds += [LaneKind.TOTAL, LaneKind.SQUARES]
        kinds += [LaneKind.NONFINITE] if type_.is_floating else []
    kinds += [LaneKind.SET] if asked & DISTINCT else []
    kinds += [LaneKind.REGISTERS] if "approx_count_distinct" in asked else []
    kinds += [LaneKind.BUCKETS] if "approx_percentile" in asked else []
    return tuple(Lane(kind, argument) for kind in kinds)


def lane_type(lane: Lane, value: pa.DataType) -> pa.DataType:
    """The type of a lane of values."""
    match lane.kind:
        case LaneKind.KNOWN | LaneKind.NONFINITE:
            return pa.int64()
        case LaneKind.SUM if pa.types.is_decimal(value):
            return pa.decimal256(DIGITS, value.scale)
        case LaneKind.SUM | LaneKind.ERROR:
            return pa.float64()
        case LaneKind.TOTAL | LaneKind.SQUARES:
            return pa.list_(pa.uint64(), widths(value)[lane.kind is LaneKind.SQUARES])
        case listed if is_list_lane(lane):
            return list_type(listed, value)
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
            case LaneKind.TOTAL:
                lanes[str(lane)] = as_lists(magnitudes(values).totals(widths(values.type)[0]))
            case LaneKind.SQUARES:
                lanes[str(lane)] = as_lists(magnitudes(values).squares(widths(values.type)[1]))
            case listed if is_list_lane(lane):
                lanes[str(lane)] = single_lists(listed, values)
            case LaneKind.NONFINITE:
                is_odd = pc.invert(pc.is_finite(values)).fill_null(False)
                lanes[str(lane)] = is_odd.cast(pa.int64())
    return lanes


def _pairs(values: pa.Array) -> Pairs:
    """Numbers to be added up, 0 for NULL."""
    if not pa.types.is_floating(values.type):
        return as_pairs(values.cast(pa.int64()).fill_null(0).to_numpy())
    floats = values.cast(pa.float64()).fill_null(0.0).to_numpy()
    return floats, np.zeros(len(floats))


def multiplied(lanes: Columns, factors: Int64s) -> Columns:
    """The lanes of an argument, each row repeated; what does not add up stays as it is."""
    more: Columns = {}
    for name, values in lanes.items():
        lane = Lane.parse(name)
        match lane.kind:
            case LaneKind.KNOWN:
                more[name] = pa.array(values.to_numpy() * factors)
            case LaneKind.SUM if str(lane.error) not in lanes:
                more[name] = from_words(words_times(as_words(values), factors), values.type.scale)
            case LaneKind.SUM:
                high, low = scaled(values.to_numpy(), lanes[str(lane.error)].to_numpy(), factors)
                more |= {name: pa.array(high), str(lane.error): pa.array(low)}
            case LaneKind.TOTAL | LaneKind.SQUARES:
                more[name] = as_lists(words_times(as_rows(values), factors))
            case LaneKind.BUCKETS:
                more[name] = repeated_lists(values, factors)
    return lanes | more
