"""Arithmetic of DECIMALs: exact, then rounded half away from zero to the digits of the result.

Arrow adds and multiplies with 38 digits, and with 76 where 38 might not do; what needs more goes by
Python. So does all that divides (quotients, rounding, fewer digits after the point): Arrow's own
division is wrong for some values near powers of two. Of up to 18 digits, 64 bits do it.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.kernels.hashing import words_of
from penstock.query.families import decimal_types

_MOST = 38
_SMALL = 18
"""Digits that 64 bits hold, whatever they are."""
_WIDEST = 76
# More digits than a product of two DECIMALs has, so that computing in Decimal is exact.
_EXACT = Context(prec=200)
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
    return checked(lowered(values, places, "half"), wanted)


def whole(function: str, values: pa.Array, wanted: pa.DataType) -> pa.Array:
    """FLOOR or CEIL."""
    return checked(lowered(values, 0, function) if values.type.scale else values, wanted)


def _rescaled(values: Any, scale: int) -> Any:
    if scale < values.type.scale:
        return lowered(values, scale, "half")
    return values.cast(pa.decimal256(_WIDEST, scale))


def lowered(values: Any, places: int, way: str) -> Any:
    """DECIMALs with fewer digits after the point, as many as `places`, or 0 if it is negative.

    `way` is half (away from zero), floor, ceil or cut (towards zero).
    """
    kind = values.type
    target = pa.decimal256(_WIDEST, max(places, 0))
    if isinstance(values, pa.Scalar):
        return lowered(pa.array([values.as_py()], kind), places, way)[0]
    step = 10 ** (kind.scale - places)
    if kind.precision <= _SMALL and step < 10**_SMALL:
        units = _divided_small(_units(values), np.int64(step), way)
    else:
        exact = [None if value is None else _units_of(value, kind.scale) for value in values]
        units = np.array([0 if u is None else _divided_one(u, step, way) for u in exact], object)
    is_null = np.asarray(values.is_null())
    return _from_units(units, is_null, target, 10 ** max(-places, 0))


def _units(values: pa.Array) -> NDArray[np.int64]:
    """DECIMALs of up to 18 digits as numbers of their last digits."""
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    small: NDArray[np.int64] = words_of(array.cast(pa.decimal128(_MOST, array.type.scale)))[0].view(
        np.int64
    )
    return small


def _units_of(value: pa.Scalar, scale: int) -> int | None:
    number = value.as_py()
    return None if number is None else int(number.scaleb(scale, _EXACT))


def _divided_small(
    units: NDArray[np.int64], step: np.int64 | NDArray[np.int64], way: str
) -> NDArray[np.int64]:
    """Whole numbers by a positive one, rounded in a way."""
    down = units // step
    left = units - down * step
    match way:
        case "floor":
            more = np.zeros(len(units), np.bool_)
        case "ceil":
            more = left > 0
        case "cut":
            more = (left > 0) & (units < 0)
        case _:
            # Of halves, those below zero go down.
            more = np.where(units < 0, left > step - left, left >= step - left)
    found: NDArray[np.int64] = down + more
    return found


def _divided_one(units: int, step: int, way: str) -> int:
    down, left = divmod(units, step)
    match way:
        case "floor":
            return down
        case "ceil":
            return down + (left > 0)
        case "cut":
            return down + (left > 0 and units < 0)
    return down + (2 * left > step if units < 0 else 2 * left >= step)


def _from_units(
    units: NDArray[Any], is_null: NDArray[np.bool_], kind: pa.DataType, times: int
) -> pa.Array:
    """DECIMALs of so many last digits, each standing for `times` of them."""
    if units.dtype == np.int64 and times == 1:
        numbers = pa.array(units, mask=is_null).cast(pa.decimal256(_WIDEST, 0))
        return numbers if kind.scale == 0 else _moved(numbers, kind)
    pairs = zip(units.tolist(), is_null.tolist(), strict=True)
    made = [None if no else Decimal(unit * times).scaleb(-kind.scale, _EXACT) for unit, no in pairs]
    return pa.array(made, kind)


def _moved(numbers: pa.Array, kind: pa.DataType) -> pa.Array:
    """Whole numbers with the point moved to the left: the same bits of another type."""
    return pa.Array.from_buffers(kind, len(numbers), numbers.buffers(), offset=numbers.offset)


def _divided(wanted: pa.DataType, left: Any, right: Any) -> Any:
    """Quotients of small numbers by 64 bits, others one by one."""
    # The digits that the dividend needs for its quotient to be one of the wanted units.
    more = wanted.scale - left.type.scale + right.type.scale
    small = left.type.precision + max(more, 0) <= _SMALL and right.type.precision <= _SMALL
    if not small or more < 0 or isinstance(left, pa.Scalar) or isinstance(right, pa.Scalar):
        return _by_row("divide", wanted, left, right)
    divisor = _units(right)
    is_null = np.asarray(left.is_null()) | np.asarray(right.is_null())
    divisor = np.where(is_null, np.int64(1), divisor)
    dividend = _units(left) * np.int64(10**more)
    signed = np.where(divisor < 0, -dividend, dividend)
    units = _divided_small(signed, np.abs(divisor), "half")
    return checked(_from_units(units, is_null, pa.decimal256(_WIDEST, wanted.scale), 1), wanted)


def _by_row(function: str, wanted: pa.DataType, left: Any, right: Any) -> pa.Array:
    """One row at a time: the rare, slow way."""
    sides = (left, right)
    count = max((len(each) for each in sides if not isinstance(each, pa.Scalar)), default=1)
    columns = [
        [each.as_py()] * count if isinstance(each, pa.Scalar) else each.to_pylist()
        for each in sides
    ]
    pairs = zip(*columns, strict=True)
    values = [None if None in pair else _one(function, wanted, *pair) for pair in pairs]
    found = pa.array(values, wanted)
    return found[0] if all(isinstance(each, pa.Scalar) for each in sides) else found


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
    if number.adjusted() < -scale - 1:
        return Decimal(0).scaleb(-scale)
    exact = number.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, _EXACT)
    return exact if exact.copy_abs() < Decimal(1).scaleb(precision - scale) else None


def _nulls(values: Any) -> int:
    return int(not values.is_valid) if isinstance(values, pa.Scalar) else int(values.null_count)
