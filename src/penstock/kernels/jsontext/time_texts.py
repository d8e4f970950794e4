"""Times as JSON text: ISO 8601 with microseconds, in quotes, all of one length."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled, inlined, read_only

Bytes = NDArray[np.uint8]
Int64s = NDArray[np.int64]

_FIRST, _LAST = -62_135_596_800_000_000, 253_402_300_799_999_999
"""The years 1 to 9999, whose texts are of one length, in microseconds since 1970."""
_DAY = 86_400_000_000
_MARCH = -719_468 * _DAY
"""March 1st of the year 0."""
_PATTERN = np.frombuffer(b'"0000-00-00T00:00:00.000000Z"', np.uint8)


def time_texts(micros: Int64s, *, is_utc: bool) -> pa.LargeStringArray | None:
    """The texts of times in microseconds, which end in Z if they are of UTC; None where one is of
    a year that has not four digits."""
    if len(micros) and not (micros.min() >= _FIRST and micros.max() <= _LAST):
        return None
    pattern = _PATTERN if is_utc else np.delete(_PATTERN, len(_PATTERN) - 2)
    data = _written(read_only(micros), read_only(pattern))
    offsets = np.arange(0, len(data) + 1, len(pattern))
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), len(micros), buffers)


@inlined
def _two(data: Bytes, at: int, number: np.uint32) -> None:
    """Write a number of two digits."""
    data[at] = np.uint8(48) + np.uint8(number // np.uint32(10))
    data[at + 1] = np.uint8(48) + np.uint8(number % np.uint32(10))


@compiled
def _written(micros: Int64s, pattern: Bytes) -> Bytes:
    """All texts, one behind the other; numbers without sign are divided sooner."""
    width = len(pattern)
    data = np.empty(len(micros) * width, np.uint8)
    for row in range(len(micros)):
        at = row * width
        for place in range(width):
            data[at + place] = pattern[place]
        since = np.uint64(micros[row] - _MARCH)
        days = np.uint32(since // np.uint64(_DAY))
        rest = since % np.uint64(_DAY)
        # The calendar repeats itself after 400 years, which begin with March 1st (Hinnant, "chrono-
        # Compatible Low-Level Date Algorithms", 2013).
        era, of_era = days // np.uint32(146_097), days % np.uint32(146_097)
        leaps = of_era // np.uint32(1_460) + of_era // np.uint32(146_096)
        year = (of_era - leaps + of_era // np.uint32(36_524)) // np.uint32(365)
        before = np.uint32(365) * year + year // np.uint32(4) - year // np.uint32(100)
        in_year = of_era - before
        since_march = (np.uint32(5) * in_year + np.uint32(2)) // np.uint32(153)
        day = in_year - (np.uint32(153) * since_march + np.uint32(2)) // np.uint32(5)
        is_next = since_march >= np.uint32(10)
        month = since_march - np.uint32(9) if is_next else since_march + np.uint32(3)
        year += era * np.uint32(400) + np.uint32(is_next)
        seconds = np.uint32(rest // np.uint64(1_000_000))
        parts = np.uint32(rest % np.uint64(1_000_000))
        _two(data, at + 1, year // np.uint32(100))
        _two(data, at + 3, year % np.uint32(100))
        _two(data, at + 6, month)
        _two(data, at + 9, day + np.uint32(1))
        _two(data, at + 12, seconds // np.uint32(3600))
        _two(data, at + 15, seconds // np.uint32(60) % np.uint32(60))
        _two(data, at + 18, seconds % np.uint32(60))
        _two(data, at + 21, parts // np.uint32(10_000))
        _two(data, at + 23, parts // np.uint32(100) % np.uint32(100))
        _two(data, at + 25, parts % np.uint32(100))
    return data
