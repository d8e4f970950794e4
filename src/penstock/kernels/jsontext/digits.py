"""Decimal digits of numbers, put at an address eight at a time."""

from __future__ import annotations

import numpy as np

from penstock.kernels.compiled import uncounted
from penstock.kernels.jsontext.words import leading_zeros, store_byte, store_word

Whole = int | np.int64

POWERS = np.array([10**each for each in range(20)], np.uint64)
"""The powers of ten that a word holds."""

_EIGHT = np.uint64(10**8)
_MINUS = np.uint8(ord("-"))


@uncounted
def digit_count(number: np.uint64) -> Whole:
    """The digits of a number; 0 has one."""
    bits = np.int64(np.uint64(64) - leading_zeros(number | np.uint64(1)))
    # A bit is a little less than 0.30103 digits.
    least = (bits * 1233) >> 12
    return least + (1 if number >= POWERS[least] or least == 0 else 0)


@uncounted
def eight_digits(number: np.uint64) -> np.uint64:
    """The text of a number below 10^8 with zeros before it, as a word.

    It is cut in halves, quarters and digits, each in a lane of its own of the word.
    """
    fours = number // np.uint64(10_000) | (number % np.uint64(10_000)) << np.uint64(32)
    upper = ((fours * np.uint64(10_486)) >> np.uint64(20)) & np.uint64(0x0000_007F_0000_007F)
    twos = upper | (fours - np.uint64(100) * upper) << np.uint64(16)
    upper = ((twos * np.uint64(103)) >> np.uint64(10)) & np.uint64(0x000F_000F_000F_000F)
    ones = upper | (twos - np.uint64(10) * upper) << np.uint64(8)
    return ones + np.uint64(0x3030_3030_3030_3030)


@uncounted
def put_padded(at: Whole, number: np.uint64, width: Whole) -> Whole:
    """Put a number with zeros before it, 1 to 20 digits wide; where it ends."""
    if width > 16:
        first = number // (_EIGHT * _EIGHT)
        store_word(at, eight_digits(first) >> np.uint64(8 * (24 - width)))
        at += width - 16
        number %= _EIGHT * _EIGHT
        width = 16
    if width > 8:
        store_word(at, eight_digits(number // _EIGHT) >> np.uint64(8 * (16 - width)))
        at += width - 8
        number %= _EIGHT
        width = 8
    store_word(at, eight_digits(number) >> np.uint64(8 * (8 - width)))
    return at + width


@uncounted
def put_number(at: Whole, number: Whole) -> Whole:
    """Put a whole number; where it ends."""
    size = np.uint64(number)
    if number < 0:
        store_byte(at, _MINUS)
        at += 1
        size = ~size + np.uint64(1)
    return put_padded(at, size, digit_count(size))
