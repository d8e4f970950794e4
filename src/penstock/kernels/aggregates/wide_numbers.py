"""Wide numbers: values and their squares as whole numbers of so many words that sums are exact.

A float is a whole number of units of 2⁻¹⁰⁷⁴, the least there is, and a square one of 2⁻²¹⁴⁸. Added
up as such nothing is ever lost, whatever the order: a variance, which is a small difference of two
such sums, has all its digits, and the same ones in every plan.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled
from penstock.kernels.exact_sum import Int64s, Words, as_words

Bools = NDArray[np.bool_]

UNIT = 1074
"""Floats are counted in units of 2 to the power of minus this."""

# Bits of the largest sum and of the largest sum of squares, by what is added up, 2⁶³ times at most:
# floats reach up to 2¹⁰²⁴, BIGINTs to 2⁶³, DECIMALs to 10³⁸ < 2¹²⁷. A sum has a sign.
_COUNTED = 63
_FLOAT_BITS, _WHOLE_BITS, _DECIMAL_BITS = 1024 + UNIT, 63, 127

_MANTISSA = np.int64((1 << 52) - 1)
_EXPONENT = np.int64(0x7FF)
_LOW_HALF = np.uint64((1 << 32) - 1)
_HALF = np.uint64(32)
_SIGN = np.uint64(63)


@dataclass(frozen=True)
class Magnitudes:
    """Numbers without signs, `(low + 2⁶⁴·high)·2^shift`; 0 for NULL and what is not finite."""

    low: Words
    high: Words
    shift: Int64s
    is_negative: Bools

    def totals(self, width: int) -> Words:
        """The numbers in so many words, with their signs."""
        zero = np.zeros_like(self.low)
        return _placed(self.low, self.high, zero, zero, self.shift, self.is_negative, width)

    def squares(self, width: int) -> Words:
        """Their squares."""
        one, two, three, four = _squared(self.low, self.high).T.copy()
        never = np.zeros(len(self.low), np.bool_)
        return _placed(one, two, three, four, 2 * self.shift, never, width)


def widths(kind: pa.DataType) -> tuple[int, int]:
    """The words of a sum and of a sum of squares of values of a type."""
    bits = _FLOAT_BITS if pa.types.is_floating(kind) else _WHOLE_BITS
    bits = _DECIMAL_BITS if pa.types.is_decimal(kind) else bits
    return -(-(bits + _COUNTED + 1) // 64), -(-(2 * bits + _COUNTED + 1) // 64)


def magnitudes(values: pa.Array) -> Magnitudes:
    """The values: floats, whole numbers or DECIMALs."""
    if pa.types.is_floating(values.type):
        return _of_floats(values.cast(pa.float64()).fill_null(0.0).to_numpy())
    if pa.types.is_decimal(values.type):
        return _of_words(as_words(values))
    whole = values.cast(pa.int64()).fill_null(0).to_numpy()
    is_negative = whole < 0
    low = np.where(is_negative, -whole.view(np.uint64), whole.view(np.uint64))
    return Magnitudes(low, np.zeros_like(low), np.zeros_like(whole), is_negative)


def _of_floats(values: NDArray[np.float64]) -> Magnitudes:
    bits = values.view(np.int64)
    exponent = (bits >> 52) & _EXPONENT
    mantissa = bits & _MANTISSA
    low = np.where(exponent > 0, mantissa | (_MANTISSA + 1), mantissa)
    low = np.where(np.isfinite(values), low, 0).view(np.uint64)
    shift = np.where(np.isfinite(values), np.maximum(exponent - 1, 0), 0)
    return Magnitudes(low, np.zeros_like(low), shift, (bits < 0) & (low > 0))


def _of_words(words: Words) -> Magnitudes:
    low, high = words[:, 0], words[:, 1]
    is_negative = (words[:, 3] >> _SIGN) > 0
    carry = (low == 0).astype(np.uint64)
    low, high = np.where(is_negative, -low, low), np.where(is_negative, ~high + carry, high)
    return Magnitudes(low, high, np.zeros(len(low), np.int64), is_negative)


def narrowed(words: Words, reduce: Callable[[Words], Words]) -> Words:
    """Sums of numbers, by a way to add them up that only gets to see the words they need.

    Most values are nowhere near the largest or the least floats, so that these are few of many.
    """
    width = words.shape[1]
    fill = np.where(words[:, -1] >> _SIGN, ~np.uint64(0), np.uint64(0))
    low = int(np.argmax(words.any(axis=0)))
    needed = np.flatnonzero((words != fill[:, None]).any(axis=0))
    # One more word has room for the sign, and for as many numbers as there can be.
    top = min(int(needed[-1]) + 2 if len(needed) else low + 2, width)
    sums = reduce(np.ascontiguousarray(words[:, low:top]))
    wide = np.zeros((len(sums), width), np.uint64)
    wide[:, low:top] = sums
    wide[:, top:] = np.where(sums[:, -1] >> _SIGN, ~np.uint64(0), np.uint64(0))[:, None]
    return wide


@compiled
def _placed(
    first: Words,
    second: Words,
    third: Words,
    fourth: Words,
    shift: Int64s,
    is_negative: Bools,
    width: int,
) -> Words:
    """Numbers of four words, shifted by some bits and with their signs."""
    out = np.zeros((len(first), width), np.uint64)
    for i in range(len(first)):
        place, bits = shift[i] >> 6, np.uint64(shift[i] & 63)
        for j, word in enumerate((first[i], second[i], third[i], fourth[i])):
            if word:
                out[i, place + j] |= word << bits
                if bits and word >> (np.uint64(64) - bits):
                    out[i, place + j + 1] |= word >> (np.uint64(64) - bits)
        if is_negative[i]:
            carry = np.uint64(1)
            for j in range(width):
                out[i, j] = ~out[i, j] + carry
                carry = carry if out[i, j] == 0 else np.uint64(0)
    return out


@compiled
def _squared(low: Words, high: Words) -> Words:
    """Squares of numbers of two words, half a word at a time."""
    out = np.zeros((len(low), 4), np.uint64)
    halves, digits = np.zeros(4, np.uint64), np.zeros(8, np.uint64)
    for i in range(len(low)):
        halves[0], halves[1] = low[i] & _LOW_HALF, low[i] >> _HALF
        halves[2], halves[3] = high[i] & _LOW_HALF, high[i] >> _HALF
        digits[:] = 0
        for j in range(4):
            carry = np.uint64(0)
            for k in range(4):
                part = halves[j] * halves[k] + digits[j + k] + carry
                digits[j + k] = part & _LOW_HALF
                carry = part >> _HALF
            digits[j + 4] = carry
        for j in range(4):
            out[i, j] = digits[2 * j] | (digits[2 * j + 1] << _HALF)
    return out
