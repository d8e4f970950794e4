"""Times of day and date in text, in the spelling that nearly all of them have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled, uncounted
from penstock.kernels.jsontext.flat_objects import ABSENT, TEXT

Bytes = NDArray[np.uint8]
Places = NDArray[np.signedinteger]
Int64s = NDArray[np.int64]

_BLANK, _T, _Z, _POINT = ord(" "), ord("T"), ord("Z"), ord(".")
_DASH, _COLON, _ZERO, _NINE = ord("-"), ord(":"), ord("0"), ord("9")
_SECONDS, _MOST_DIGITS = 19, 6
"""Characters up to the seconds, and digits that microseconds have."""
_DAYS = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], np.int64)


@compiled
def plain_times(
    data: Bytes, kinds: NDArray[np.uint8], starts: Places, stops: Places
) -> tuple[bool, Int64s]:
    """Whether all values are times like `2026-11-17 18:05:44.25`, in UTC, or not there; and these
    in microseconds since 1970.

    Between date and time may be a `T`, behind it a `Z`; a fraction has up to six digits.
    """
    micros = np.zeros(len(starts), np.int64)
    for row in range(len(starts)):
        if kinds[row] == ABSENT:
            continue
        if kinds[row] != TEXT:
            return False, micros
        is_time, found = _micros(data, int(starts[row]), int(stops[row]))
        if not is_time:
            return False, micros
        micros[row] = found
    return True, micros


@uncounted
def _micros(data: Bytes, at: int, stop: int) -> tuple[bool, int]:
    """Whether a text is such a time, and which."""
    if stop > at and data[np.uintp(stop - 1)] == _Z:
        stop -= 1
    size = stop - at
    # Years up to 9999 have four digits, and so has the year 0, which SQL does not know.
    if size < _SECONDS or size == _SECONDS + 1 or size > _SECONDS + 1 + _MOST_DIGITS:
        return False, 0
    year = _number(data, at, 2) * 100 + _number(data, at + 2, 2)
    month, day = _number(data, at + 5, 2), _number(data, at + 8, 2)
    hour, minute = _number(data, at + 11, 2), _number(data, at + 14, 2)
    second = _number(data, at + 17, 2)
    between = data[np.uintp(at + 10)]
    is_spelled = (
        data[np.uintp(at + 4)] == _DASH
        and data[np.uintp(at + 7)] == _DASH
        and between in (_BLANK, _T)
        and data[np.uintp(at + 13)] == _COLON
        and data[np.uintp(at + 16)] == _COLON
    )
    is_known = 1 <= year <= 9999 and 1 <= month <= 12 and hour <= 23
    # Two characters that are no digits make a number that is above all of these.
    if not (is_spelled and is_known and minute <= 59 and second <= 59):
        return False, 0
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= day <= _DAYS[month] + (is_leap and month == 2):
        return False, 0
    fraction = 0
    if size > _SECONDS:
        if data[np.uintp(at + _SECONDS)] != _POINT:
            return False, 0
        for i in range(_MOST_DIGITS):
            digit = 0
            if at + _SECONDS + 1 + i < stop:
                byte = data[np.uintp(at + _SECONDS + 1 + i)]
                if byte < _ZERO or byte > _NINE:
                    return False, 0
                digit = int(byte) - _ZERO
            fraction = fraction * 10 + digit
    seconds = (_days(year, month, day) * 24 + hour) * 3600 + minute * 60 + second
    return True, seconds * 1_000_000 + fraction


@uncounted
def _number(data: Bytes, at: int, digits: int) -> int:
    """The number that some digits are; a large one if they are none."""
    number = 0
    for i in range(digits):
        byte = data[np.uintp(at + i)]
        number = number * 10 + int(byte) - _ZERO
        if byte < _ZERO or byte > _NINE:
            return 1_000_000
    return number


@uncounted
def _days(year: int, month: int, day: int) -> int:
    """The days from 1970 to a date, of years that begin in March: leap days are their last."""
    if month <= 2:
        year, month = year - 1, month + 12
    # 153 days are five months from March on, whichever.
    before = year * 365 + year // 4 - year // 100 + year // 400
    return before + (153 * (month - 3) + 2) // 5 + day - 719_469
