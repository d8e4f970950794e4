"""Arithmetic: integers checked in BIGINT, everything else in DOUBLE, times in microseconds."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.engine.expressions.arrow_types import TIMESTAMP
from penstock.engine.expressions.timestamps import are_in_range

_CHECKED = {
    "add": pc.add_checked,
    "subtract": pc.subtract_checked,
    "multiply": pc.multiply_checked,
    "negate": pc.negate_checked,
    "abs": pc.abs_checked,
}
# More digits than any double has, so that rounding in Decimal is exact.
_EXACT = Context(prec=2000)
_MOST_DIGITS = 400

Numbers = np.ndarray[Any, np.dtype[Any]]


def calculate(function: str, *values: Any) -> Any:
    """The result of an operator; ArrowInvalid where an integer or a time overflows."""
    if any(pa.types.is_timestamp(each.type) for each in values):
        return _times(function, *values)
    if pa.types.is_decimal(values[0].type):
        # Those with two sides are in `decimals`; a sign does not need a digit.
        return _CHECKED[function](*values)
    if any(pa.types.is_floating(each.type) for each in values) or function == "divide":
        values = tuple(each.cast(pa.float64(), safe=False) for each in values)
    else:
        values = tuple(each.cast(pa.int64()) for each in values)
    match function:
        case "divide":
            return pc.divide(values[0], _nonzero(values[1]))
        case "modulo":
            return _modulo(values[0], _nonzero(values[1]))
    return _CHECKED[function](*values)


def round_off(values: pa.Array, digits: int) -> pa.Array:
    """Rounded half away from zero, as the shortest decimal digits of the number say.

    So 2.675 is 2.68 at two digits, although the double is a little below.
    """
    if pa.types.is_integer(values.type):
        return values if digits >= 0 else _each(values, digits)
    if digits == 0:
        return pc.round(values, 0, round_mode="half_towards_infinity")
    doubles = values.cast(pa.float64())
    rounded = _round_doubles(doubles.fill_null(0.0).to_numpy(), digits)
    return pa.array(rounded, mask=np.asarray(pc.is_null(doubles)))


def _times(function: str, left: Any, right: Any) -> Any:
    """TIMESTAMP ± microseconds, or the microseconds between two TIMESTAMPs."""
    micros = _CHECKED[function](left.cast(pa.int64()), right.cast(pa.int64()))
    if pa.types.is_timestamp(left.type) and pa.types.is_timestamp(right.type):
        return micros
    if not are_in_range(micros):
        raise pa.ArrowInvalid("overflow")
    return micros.cast(TIMESTAMP)


def _nonzero(divisor: Any) -> Any:
    return pc.if_else(pc.equal(divisor, 0), None, divisor)


def _modulo(left: Any, right: Any) -> pa.Array:
    """The remainder with the sign of the dividend."""
    nulls = np.asarray(pc.or_(pc.is_null(left), pc.is_null(right)))
    one = pa.scalar(1, right.type)
    with np.errstate(invalid="ignore"):
        remainder = np.fmod(_numpy(pc.fill_null(left, one)), _numpy(pc.fill_null(right, one)))
    return pa.array(np.broadcast_to(remainder, nulls.shape), mask=nulls)


def _numpy(values: Any) -> Any:
    return values.as_py() if isinstance(values, pa.Scalar) else values.to_numpy()


def _round_doubles(values: Numbers, digits: int) -> Numbers:
    if abs(digits) > 15:
        return np.array([_round_one(value, digits) for value in values.tolist()], np.float64)
    power = 10.0 ** abs(digits)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.abs(values) * power if digits > 0 else np.abs(values) / power
        whole = np.floor(scaled + 0.5)
        rounded = np.copysign(whole / power if digits > 0 else whole * power, values)
        off_tie = np.abs(scaled - np.floor(scaled) - 0.5)
    # Near a tie, or too large for a fraction, the scaled double does not decide; its digits do.
    close = (off_tie <= scaled * 2.0**-50) | (scaled >= 2.0**51)
    doubtful = np.flatnonzero(np.isfinite(values) & close)
    rounded[doubtful] = [_round_one(value, digits) for value in values[doubtful].tolist()]
    return rounded


def _each(values: pa.Array, digits: int) -> pa.Array:
    rounded = [None if v is None else _round_one(v, digits) for v in values.to_pylist()]
    if any(v is not None and not -(1 << 63) <= v < 1 << 63 for v in rounded):
        raise pa.ArrowInvalid("overflow")
    return pa.array(rounded, pa.int64())


def _round_one(value: Any, digits: int) -> Any:
    exact = Decimal(repr(value))
    if not exact.is_finite():
        return value
    step = Decimal(1).scaleb(-max(-_MOST_DIGITS, min(_MOST_DIGITS, digits)))
    return type(value)(exact.quantize(step, ROUND_HALF_UP, _EXACT))
