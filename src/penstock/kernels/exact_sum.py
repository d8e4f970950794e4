"""Sums that neither drift nor overflow: pairs of floats, a sum and the error that it leaves out.

A pair holds about 106 bits, so whole numbers below 2¹⁰⁵ are exact, and sums of floats are rounded
once, when they are read. Nothing is ever subtracted.

Sums of DECIMALs are whole numbers of 256 bits, in four words each, the lowest first. Words wrap, so
that negative numbers are added and multiplied as positive ones. 38 digits taken 2⁶³ times have 57
digits; 256 bits hold 76.
"""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled, inlined

Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]
Pairs = tuple[Floats, Floats]
Words = NDArray[np.uint64]

DIGITS = 76
"""What 256 bits hold."""
WORDS = 4

_LOW = (1 << 32) - 1
# Splits a float into two halves of 26 bits (Dekker, "A floating-point technique", 1971).
_SPLITTER = float((1 << 27) + 1)
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(_LOW)


def as_pairs(values: Int64s) -> Pairs:
    """Whole numbers as pairs, exactly."""
    low = values & _LOW
    return (values - low).astype(np.float64), low.astype(np.float64)


@inlined
def add_pairs(high: float, low: float, more: float, less: float) -> tuple[float, float]:
    """The sum of two pairs."""
    total = high + more
    if not math.isfinite(total):
        return total, 0.0
    part = total - high
    error = (high - (total - part)) + (more - part) + (low + less)
    exact = total + error
    part = exact - total
    return exact, (total - (exact - part)) + (error - part)


@inlined
def add_row(total: Floats, row: Floats) -> None:
    """Add a row of numbers to another, in place; the first two are a pair."""
    total[0], total[1] = add_pairs(total[0], total[1], row[0], row[1])
    for j in range(2, len(row)):
        total[j] += row[j]


@inlined
def _times(high: float, low: float, factor: float) -> tuple[float, float]:
    product = high * factor
    # Beyond this the split overflows; so large a number has no error to speak of.
    if not abs(high) < 1e290 or not math.isfinite(product):
        return product, 0.0
    big = _SPLITTER * high
    one = big - (big - high)
    two = high - one
    big = _SPLITTER * factor
    three = big - (big - factor)
    four = factor - three
    error = ((one * three - product) + one * four + two * three) + two * four
    return product, error + low * factor


@compiled
def scaled(high: Floats, low: Floats, factors: Int64s) -> Pairs:
    """Pairs times whole numbers."""
    highs, lows = np.empty(len(high)), np.empty(len(high))
    for i in range(len(high)):
        highs[i], lows[i] = _times(high[i], low[i], float(factors[i]))
    return highs, lows


@compiled
def sums_by(ids: Int64s, groups: int, high: Floats, low: Floats) -> Pairs:
    """The sum of each group, numbered from 0 to `groups` − 1."""
    highs, lows = np.zeros(groups), np.zeros(groups)
    for i in range(len(ids)):
        g = ids[i]
        highs[g], lows[g] = add_pairs(highs[g], lows[g], high[i], low[i])
    return highs, lows


def as_words(column: pa.Array) -> Words:
    """DECIMALs as words, 0 for NULL."""
    wide = column.cast(pa.decimal256(DIGITS, column.type.scale))
    if wide.null_count:
        wide = wide.fill_null(pa.scalar(0, wide.type))
    words = np.frombuffer(wide.buffers()[1] or b"", np.uint64).reshape(-1, WORDS)
    return words[wide.offset : wide.offset + len(wide)]


def from_words(words: Words, scale: int) -> pa.Array:
    """Words as DECIMALs, with so many digits after the point."""
    kind = pa.decimal256(DIGITS, scale)
    return pa.Array.from_buffers(kind, len(words), [None, pa.py_buffer(words.tobytes())])


@inlined
def add_words(total: Words, more: Words) -> None:
    """Add a number to another, in place."""
    carry = np.uint64(0)
    for j in range(len(total)):
        part = total[j] + more[j]
        carried = np.uint64(1) if part < more[j] else np.uint64(0)
        total[j] = part + carry
        carry = carried | (np.uint64(1) if total[j] < carry else np.uint64(0))


@inlined
def _words_times(number: Words, factor: np.uint64, product: Words) -> None:
    """A number times a whole number that is not negative, half a word at a time."""
    for h in range(2):
        digit = (factor >> _HALF) if h else (factor & _LOW_HALF)
        carry = np.uint64(0)
        for k in range(2 * len(number) - h):
            word = number[k >> 1]
            own = (word >> _HALF) if k & 1 else (word & _LOW_HALF)
            place = k + h
            shift = _HALF if place & 1 else np.uint64(0)
            there = (product[place >> 1] >> shift) & _LOW_HALF
            part = own * digit + there + carry
            product[place >> 1] &= ~(_LOW_HALF << shift)
            product[place >> 1] |= (part & _LOW_HALF) << shift
            carry = part >> _HALF


@compiled
def words_times(words: Words, factors: Int64s) -> Words:
    """Numbers times whole numbers that are not negative."""
    out = np.zeros(words.shape, np.uint64)
    for i in range(len(words)):
        _words_times(words[i], np.uint64(factors[i]), out[i])
    return out


@compiled
def words_by(ids: Int64s, groups: int, words: Words) -> Words:
    """The sum of each group, numbered from 0 to `groups` − 1."""
    out = np.zeros((groups, words.shape[1]), np.uint64)
    for i in range(len(ids)):
        add_words(out[ids[i]], words[i])
    return out
