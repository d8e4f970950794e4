"""Times as JSON text: ISO 8601 with microseconds, in quotes, all of one length."""

from __future__ import annotations

import numpy as np

from penstock.kernels.compiled import uncounted
from penstock.kernels.jsontext.digits import Whole, eight_digits
from penstock.kernels.jsontext.words import load_word, store_byte, store_word

FIRST, LAST = -62_135_596_800_000_000, 253_402_300_799_999_999
"""The years 1 to 9999, whose texts are of one length, in microseconds since 1970."""
MINUTE = np.uint64(60_000_000)
MARCH = -719_468 * 86_400_000_000
"""March 1st of the year 0."""
_POINT, _QUOTE, _ZULU = (np.uint8(ord(each)) for each in '."Z')


@uncounted
def put_time(at: Whole, since: np.uint64, minute: int, is_utc: bool) -> Whole:
    """Put a time, in microseconds since March of the year 0; where it ends. At `minute` stands the
    text of its minute."""
    for place in range(0, 24, 8):
        store_word(at + place, load_word(minute + place))
    rest = eight_digits(since % MINUTE)
    store_word(at + 18, rest)
    store_byte(at + 20, _POINT)
    store_word(at + 21, rest >> np.uint64(16))
    at += 27
    if is_utc:
        store_byte(at, _ZULU)
        at += 1
    store_byte(at, _QUOTE)
    return at + 1


@uncounted
def put_minute(at: Whole, minutes: np.uint64) -> None:
    """Put a quote, and the minute that is so many after March 1st of the year 0; numbers without
    sign are divided sooner."""
    days, of_day = np.uint32(minutes // np.uint64(1440)), minutes % np.uint64(1440)
    # The calendar repeats itself after 400 years, which begin with March 1st (Hinnant, "chrono-
    # Compatible Low-Level Date Algorithms", 2013).
    era, of_era = days // np.uint32(146_097), days % np.uint32(146_097)
    leaps = of_era // np.uint32(1_460) + of_era // np.uint32(146_096)
    year = (of_era - leaps + of_era // np.uint32(36_524)) // np.uint32(365)
    before = np.uint32(365) * year + year // np.uint32(4) - year // np.uint32(100)
    in_year = of_era - before
    since_march = (np.uint32(5) * in_year + np.uint32(2)) // np.uint32(153)
    day = in_year - (np.uint32(153) * since_march + np.uint32(2)) // np.uint32(5) + np.uint32(1)
    is_next = since_march >= np.uint32(10)
    month = since_march - np.uint32(9) if is_next else since_march + np.uint32(3)
    year += era * np.uint32(400) + np.uint32(is_next)
    date = (np.uint64(year) * np.uint64(100) + np.uint64(month)) * np.uint64(100) + np.uint64(day)
    digits = eight_digits(date)
    clock = eight_digits(of_day // np.uint64(60) * np.uint64(100) + of_day % np.uint64(60))
    store_byte(at, _QUOTE)
    store_word(at + 1, digits)
    _put_two(at + 5, ord("-"), digits >> np.uint64(32))
    _put_two(at + 8, ord("-"), digits >> np.uint64(48))
    _put_two(at + 11, ord("T"), clock >> np.uint64(32))
    _put_two(at + 14, ord(":"), clock >> np.uint64(48))
    store_byte(at + 17, np.uint8(ord(":")))


@uncounted
def _put_two(at: Whole, before: int, digits: np.uint64) -> None:
    store_word(at, np.uint64(before) | digits << np.uint64(8))
