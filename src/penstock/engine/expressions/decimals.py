"""Arithmetic of DECIMALs: exact, then rounded half away from zero to the digits of the result.

Arrow computes with 38 digits, and with 76 where 38 might not do; what needs more goes by Python.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from penstock.query.families import decimal_types

_MOST = 38
_WIDEST = 76
# More digits than a product of two DECIMALs has, so that computing in Decimal is exact.
_EXACT = Context(prec=200)
_HALF_UP = "half_towards_infinity"
_ARROW: dict[str, Callable[..., Any]] = {
    "add": pc.add,
    "subtract": pc.subtract,
    "multiply": pc.multiply,
}


def calculate(function: str, wanted: pa.DataType, left: Any, right: Any) -> Any:
    """The result of an operator; NULL of a division by zero, ArrowInvalid where it overflows."""
    if function in ("divide", "modulo"):
        right = pc.if_else(pc.equal(right, pa.scalar(0, right.type)), None, right)
    if function == "modulo":
        return _by_row(function, wanted, left, right)
    if function == "divide":
        return _divided(wanted, left, right)
    digits = _digits(function, left.type, right.type)
    if digits <= _MOST:
        # Then Arrow gives the same type as Spark does.
        return checked(_ARROW[function](left, right), wanted)
    if digits > _WIDEST:
        return _by_row(function, wanted, left, right)
    return checked(_ARROW[function](widened(left), widened(right)), wanted)


def _digits(function: str, left: pa.DataType, right: pa.DataType) -> int:
    """How many digits the result has before it is rounded."""
    if function == "multiply":
        return int(left.precision + right.precision + 1)
    whole = max(left.precision - left.scale, right.precision - right.scale)
    return int(whole + max(left.scale, right.scale) + 1)


def fitted(values: Any, wanted: pa.DataType) -> Any:
    """DECIMALs of any kind in the wanted one, rounded; NULL where its digits do not hold them."""
    given = values.type
    if given == wanted:
        return values
    room = wanted.precision - wanted.scale
    if wanted.scale >= given.scale and room >= given.precision - given.scale:
        return values.cast(wanted)
    return within(_rescaled(values, wanted.scale), wanted.precision).cast(wanted)


def checked(values: Any, wanted: pa.DataType) -> Any:
    """The same, but ArrowInvalid where the digits do not hold a value."""
    found = fitted(values, wanted)
    if found is not values and _nulls(found) > _nulls(values):
        raise pa.ArrowInvalid("overflow")
    return found


def within(values: Any, precision: int) -> Any:
    """DECIMALs, NULL where they have more digits than these."""
    limit = Decimal(1).scaleb(precision - values.type.scale)
    wide = pa.scalar(limit, pa.decimal256(_WIDEST, values.type.scale))
    fits = pc.and_(pc.less(values, wide), pc.greater(values, pc.negate(wide)))
    return pc.if_else(fits, values, pa.scalar(None, values.type))


def widened(values: Any) -> Any:
    """DECIMALs with as many digits and more room to compute in."""
    kind = values.type
    return values.cast(pa.decimal256(kind.precision, kind.scale))


def mean(sums: pa.Array, counts: Any, wanted: pa.DataType) -> pa.Array:
    """Sums of any size by how many there are of each, rounded once."""
    pairs = zip(sums.to_pylist(), counts.tolist(), strict=True)
    values = [None if s is None else _one("divide", wanted, s, Decimal(n)) for s, n in pairs]
    return pa.array(values, wanted)


def rounded(values: pa.Array, places: int, wanted: pa.DataType) -> pa.Array:
    """ROUND: half away from zero at so many places, which may be before the point."""
    if places >= values.type.scale:
        return checked(values, wanted)
    if -places > values.type.precision:
        return pc.if_else(values.is_valid(), pa.scalar(0, wanted), pa.scalar(None, wanted))
    wide = values.cast(pa.decimal256(_WIDEST, values.type.scale))
    return checked(pc.round(wide, places, round_mode=_HALF_UP), wanted)


def whole(function: str, values: pa.Array, wanted: pa.DataType) -> pa.Array:
    """FLOOR or CEIL."""
    wide = values.cast(pa.decimal256(_WIDEST, values.type.scale))
    return checked(getattr(pc, function)(wide), wanted)


def _rescaled(values: Any, scale: int) -> Any:
    wide = values.cast(pa.decimal256(_WIDEST, values.type.scale))
    if scale < wide.type.scale:
        wide = pc.round(wide, scale, round_mode=_HALF_UP)
    return wide.cast(pa.decimal256(_WIDEST, scale))


def _divided(wanted: pa.DataType, left: Any, right: Any) -> Any:
    """One digit more than wanted is computed, by which the quotient is rounded."""
    (p1, s1), (p2, s2) = ((each.type.precision, each.type.scale) for each in (left, right))
    # Arrow cuts off a quotient after max(4, s1 + p2 - s2 + 1) digits.
    more = max(0, wanted.scale - (s1 + p2 - s2))
    if p1 - s1 + s2 + max(4, s1 + more + p2 - s2 + 1) > _WIDEST or p1 + more > _WIDEST:
        return _by_row("divide", wanted, left, right)
    longer = left.cast(pa.decimal256(p1 + more, s1 + more))
    return checked(pc.divide(longer, widened(right)), wanted)


def _by_row(function: str, wanted: pa.DataType, left: Any, right: Any) -> pa.Array:
    """One row at a time: the rare, slow way."""
    count = len(left)
    others = [right.as_py()] * count if isinstance(right, pa.Scalar) else right.to_pylist()
    pairs = zip(left.to_pylist(), others, strict=True)
    values = [None if None in pair else _one(function, wanted, *pair) for pair in pairs]
    return pa.array(values, wanted)


def _one(function: str, wanted: pa.DataType, left: Decimal, right: Decimal) -> Decimal:
    match function:
        case "add":
            result = _EXACT.add(left, right)
        case "subtract":
            result = _EXACT.subtract(left, right)
        case "multiply":
            result = _EXACT.multiply(left, right)
        case "divide":
            result = _EXACT.divide(left, right)
        case _:
            result = _EXACT.remainder(left, right)
    exact = half_up(result, wanted.precision, wanted.scale)
    if exact is None:
        raise pa.ArrowInvalid("overflow")
    return exact


def half_up(number: Decimal, precision: int, scale: int) -> Decimal | None:
    """The number with so many digits after the point; None if there are too many before it."""
    if not number.is_finite() or (number and number.adjusted() > decimal_types.MOST_DIGITS):
        return None
    exact = number.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, _EXACT)
    return exact if exact.copy_abs() < Decimal(1).scaleb(precision - scale) else None


def _nulls(values: Any) -> int:
    return int(not values.is_valid) if isinstance(values, pa.Scalar) else int(values.null_count)
