"""Floating-point numbers as the shortest decimal text that is read as the same number.

The digits are found by Schubfach (R. Giulietti, "The Schubfach way to render doubles", 2020): with
three multiplications by a power of ten, of which 128 bits are known beforehand.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import read_only, uncounted
from penstock.kernels.jsontext.digits import POWERS, Whole, digit_count, put_number, put_padded
from penstock.kernels.jsontext.words import high_product, store_byte, store_word

Powers = NDArray[np.uint64]

_LEAST, _MOST = -292, 324
"""The powers of ten that numbers of 64 bits need."""
_FRACTION = np.uint64((1 << 52) - 1)
_HIDDEN = np.uint64(1 << 52)
_NO_NUMBER = 0x7FF
_LOWEST, _HIGHEST = -6, 9
"""Exponents of ten of numbers that are written without one, as Arrow does."""
_MINUS, _POINT, _ZERO, _E = (np.uint8(ord(each)) for each in "-.0e")
_PLUS = np.uint8(ord("+"))
_NULL = np.uint64(int.from_bytes(b"null", "little"))
_ZEROS = np.uint64(0x3030_3030_3030_3030)


@cache
def powers_of_ten() -> Powers:
    """128 bits of each power of ten, rounded up: the upper and the lower half of each."""
    halves = [divmod(_significant(each), 1 << 64) for each in range(_LEAST, _MOST + 1)]
    found: Powers = read_only(np.array(halves, np.uint64))
    return found


def _significant(exponent: int) -> int:
    shift = ((exponent * 1_741_647) >> 19) - 127
    over: int = 10 ** max(exponent, 0) << max(-shift, 0)
    under: int = 10 ** max(-exponent, 0) << max(shift, 0)
    return -(-over // under)


@uncounted
def put_real(at: Whole, bits: int, powers: Powers) -> Whole:
    """Put a number of 64 bits, null for what is none; where it ends."""
    word = np.uint64(bits)
    fraction = word & _FRACTION
    exponent = np.int64((word >> np.uint64(52)) & np.uint64(_NO_NUMBER))
    if exponent == _NO_NUMBER:
        store_word(at, _NULL)
        return at + 4
    if bits < 0:
        store_byte(at, _MINUS)
        at += 1
    if exponent == 0 and fraction == np.uint64(0):
        store_byte(at, _ZERO)
        return at + 1
    digits, scale = _shortest(fraction, exponent, powers)
    if digits % POWERS[8] == np.uint64(0):
        digits //= POWERS[8]
        scale += 8
    while digits % np.uint64(10) == np.uint64(0):
        digits //= np.uint64(10)
        scale += 1
    return _put_scaled(at, digits, scale)


@uncounted
def _put_scaled(at: Whole, digits: np.uint64, scale: Whole) -> Whole:
    """Put digits times a power of ten; no digit at their end is zero."""
    width = digit_count(digits)
    exponent = width + scale - 1
    if not _LOWEST <= exponent <= _HIGHEST:
        return _put_with_exponent(at, digits, width, exponent)
    if exponent < 0:
        store_word(at, _ZEROS)
        store_byte(at + 1, _POINT)
        return put_padded(at + 1 - exponent, digits, width)
    if scale >= 0:
        return put_number(at, np.int64(digits * POWERS[scale]))
    at = put_number(at, np.int64(digits // POWERS[-scale]))
    store_byte(at, _POINT)
    return put_padded(at + 1, digits % POWERS[-scale], -scale)


@uncounted
def _put_with_exponent(at: Whole, digits: np.uint64, width: Whole, exponent: Whole) -> Whole:
    rest = width - 1
    at = put_number(at, np.int64(digits // POWERS[rest]))
    if rest:
        store_byte(at, _POINT)
        at = put_padded(at + 1, digits % POWERS[rest], rest)
    store_byte(at, _E)
    at += 1
    if exponent > 0:
        store_byte(at, _PLUS)
        at += 1
    return put_number(at, exponent)


@uncounted
def _shortest(fraction: np.uint64, exponent: Whole, powers: Powers) -> tuple[np.uint64, Whole]:
    """Digits and their power of ten: of the numbers that are read as the same, one of the shortest
    ones, and of these the nearest. There may be zeros at its end."""
    number, binary = fraction, np.int64(-1074)
    if exponent:
        number, binary = fraction | _HIDDEN, np.int64(exponent - 1075)
    is_odd = number & np.uint64(1)
    # The next number below a power of two is only half as far away.
    is_closer = exponent > 1 and fraction == np.uint64(0)
    scale = (binary * 1_262_611 - (524_031 if is_closer else 0)) >> 22
    shift = np.uint64(binary + ((-scale * 1_741_647) >> 19) + 1)
    upper, lower = powers[-scale - _LEAST, 0], powers[-scale - _LEAST, 1]
    four = number << np.uint64(2)
    below = four - np.uint64(1 if is_closer else 2)
    value = _to_odd(upper, lower, four << shift)
    first = _to_odd(upper, lower, below << shift) + is_odd
    last = _to_odd(upper, lower, (four + np.uint64(2)) << shift) - is_odd
    found = value >> np.uint64(2)
    if found >= np.uint64(10):
        shorter = found // np.uint64(10)
        is_below = first <= np.uint64(40) * shorter
        is_above = np.uint64(40) * shorter + np.uint64(40) <= last
        if is_below != is_above:
            return shorter + np.uint64(is_above), np.int64(scale + 1)
    floor = found << np.uint64(2)
    is_below = first <= floor
    is_above = floor + np.uint64(4) <= last
    if is_below != is_above:
        return found + np.uint64(is_above), scale
    middle = floor + np.uint64(2)
    is_above = value > middle or (value == middle and found & np.uint64(1) == np.uint64(1))
    return found + np.uint64(is_above), scale


@uncounted
def _to_odd(upper: np.uint64, lower: np.uint64, number: np.uint64) -> np.uint64:
    """The upper 64 bits of a product with 128 bits; odd if anything but zeros is below them."""
    carried = high_product(lower, number)
    middle = upper * number + carried
    high = high_product(upper, number) + np.uint64(middle < carried)
    return high | np.uint64(middle > np.uint64(1))
