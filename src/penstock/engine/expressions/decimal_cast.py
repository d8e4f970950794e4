"""Casts from and to DECIMAL, rounded half away from zero; NULL where the digits do not hold it."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.engine.expressions.decimals import fitted, half_up, lowered, within
from penstock.kernels.hashing import words_of

_MOST = 38
_WIDEST = 76
# Whole numbers of so many digits are doubles, and so are these powers of ten: their quotient is
# rounded once. Longer ones are read from their digits, which rounds once too.
_EXACT_DIGITS = 15
_EXACT_POWER = 22


def to_decimal(values: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Numbers and booleans as DECIMALs; a DOUBLE by the fewest digits that read back."""
    kind = values.type
    if pa.types.is_decimal(kind):
        return fitted(values, wanted)
    if pa.types.is_floating(kind):
        doubles = values.cast(pa.float64()).to_pylist()
        return pa.array([_from_double(each, wanted) for each in doubles], wanted)
    if pa.types.is_boolean(kind):
        values = values.cast(pa.int8())
    wide = values.cast(pa.int64()).cast(pa.decimal256(_WIDEST, 0))
    return fitted(wide, wanted)


def from_text(text: pa.Array, wanted: pa.DataType) -> pa.Array:
    """DECIMALs from texts that have the form of a number."""
    try:
        if pc.any(pc.match_substring_regex(text, "[eE]")).as_py():
            raise pa.ArrowInvalid("Arrow ends the process at some exponents")
        digits = _most_digits(text)
        if digits > _MOST:
            raise pa.ArrowInvalid("Arrow drops the highest bits of so many digits")
        # So it does where zeros behind the point make them too many.
        is_wide = digits + wanted.scale > _MOST
        kind = pa.decimal256(_WIDEST, wanted.scale) if is_wide else wanted
        return within(text.cast(kind), wanted.precision).cast(wanted)
    except pa.ArrowInvalid:
        # More digits after the point than the type has, or too many before it.
        return pa.array([_from_text(each, wanted) for each in text.to_pylist()], wanted)


def has_room(digits: tuple[int, int]) -> bool:
    """Whether numbers of a precision have room for the zeros behind the point of a scale, as Arrow
    takes for granted when it reads text: else it drops the highest bits."""
    return sum(digits) <= _MOST


def _most_digits(text: pa.Array) -> int:
    """The most digits that a text has, or more."""
    length = pc.max(pc.binary_length(text)).as_py() or 0
    if length <= _MOST:
        return int(length)
    digits = pc.replace_substring_regex(text, "[^0-9]", "")
    return int(pc.max(pc.binary_length(digits)).as_py())


def to_double(values: pa.Array) -> pa.Array:
    """The doubles that are nearest."""
    kind = values.type
    if kind.precision <= _EXACT_DIGITS and kind.scale <= _EXACT_POWER:
        whole = words_of(values)[0].view(np.int64).astype(np.float64)
        return pa.array(whole / 10.0**kind.scale, mask=np.asarray(values.is_null()))
    return values.cast(pa.large_string()).cast(pa.float64())


def to_integer(values: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Cut towards zero."""
    limits = np.iinfo(wanted.to_pandas_dtype())
    cut = lowered(values, 0, "cut") if values.type.scale else values.cast(pa.decimal256(_WIDEST, 0))
    low, high = (pa.scalar(Decimal(int(n)), cut.type) for n in (limits.min, limits.max))
    fits = pc.and_(pc.greater_equal(cut, low), pc.less_equal(cut, high))
    return pc.if_else(fits, cut, pa.scalar(None, cut.type)).cast(wanted)


def to_text(values: pa.Array) -> pa.Array:
    """All digits, never an exponent."""
    text = values.cast(pa.large_string())
    odd = pc.match_substring(text, "E")
    if not pc.any(odd).as_py():
        return text
    places = odd.fill_null(False)
    plain = [f"{value:f}" for value in values.filter(places).to_pylist()]
    return pc.replace_with_mask(text, places, pa.array(plain, pa.large_string()))


def _from_double(value: float | None, wanted: pa.DataType) -> Decimal | None:
    if value is None:
        return None
    return half_up(Decimal(repr(value)), wanted.precision, wanted.scale)


def _from_text(text: str | None, wanted: pa.DataType) -> Decimal | None:
    if text is None:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        # An exponent that even Python does not count to.
        return None
    return half_up(number, wanted.precision, wanted.scale)
