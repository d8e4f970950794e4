"""Comparisons in SQL's order: NaN equals NaN and is above every number; strings by code point."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_ARROW = {
    "eq": pc.equal,
    "ne": pc.not_equal,
    "lt": pc.less,
    "le": pc.less_equal,
    "gt": pc.greater,
    "ge": pc.greater_equal,
}


def compare(function: str, left: Any, right: Any) -> Any:
    """A BOOLEAN for each pair of values, NULL where one of them is."""
    plain = _ARROW[function](left, right)
    if not (_has_nan(left) or _has_nan(right)):
        return plain
    left_nan, right_nan = pc.is_nan(left), pc.is_nan(right)
    match function:
        case "eq":
            return pc.or_(plain, pc.and_(left_nan, right_nan))
        case "ne":
            return pc.and_not(plain, pc.and_(left_nan, right_nan))
        case "lt":
            return pc.or_(plain, pc.and_not(right_nan, left_nan))
        case "gt":
            return pc.or_(plain, pc.and_not(left_nan, right_nan))
        case "le":
            return pc.or_(plain, right_nan)
    return pc.or_(plain, left_nan)


def extreme(comparison: str, values: list[Any]) -> Any:
    """The first value that no other precedes by the comparison; NULLs do not count."""
    best, *others = values
    for other in others:
        wins = pc.fill_null(compare(comparison, other, best), False)
        best = pc.if_else(pc.or_(wins, pc.is_null(best)), other, best)
    return best


def is_in(needle: pa.Array, items: pa.Array) -> pa.Array:
    """Whether each value is among the items; NULL where it is not but an item is NULL."""
    if pa.types.is_floating(needle.type):
        # Arrow looks values up by their bits; adding 0 makes -0.0 the same as 0.0.
        zero = pa.scalar(0.0, needle.type)
        needle, items = pc.add(needle, zero), pc.add(items, zero)
    found = pc.is_in(needle, value_set=items.drop_null())
    missed = pa.scalar(None if items.null_count else False, pa.bool_())
    return pc.if_else(pc.is_valid(needle), pc.if_else(found, True, missed), None)


def _has_nan(values: Any) -> bool:
    if not pa.types.is_floating(values.type):
        return False
    nan = pc.is_nan(values)
    return (nan if isinstance(nan, pa.Scalar) else pc.any(nan)).as_py() is True
