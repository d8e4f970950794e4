"""Lengths of time as they are written: `10 SECONDS`, `'1.5 h'`."""

from __future__ import annotations

import re
from decimal import Decimal

_SIZES = {
    ("microsecond", "us"): 1,
    ("millisecond", "ms"): 1_000,
    ("second", "sec", "s"): 1_000_000,
    ("minute", "min"): 60_000_000,
    ("hour", "h"): 3_600_000_000,
    ("day", "d"): 86_400_000_000,
}
UNITS = {
    spelling: size
    for (name, *short), size in _SIZES.items()
    for spelling in (name, name + "s", *short)
}
UNITS_HINT = "the units are MICROSECONDS, MILLISECONDS, SECONDS, MINUTES, HOURS and DAYS"

_DURATION = re.compile(r"\s*(-?\d+(?:\.\d*)?|-?\.\d+)\s*([a-zA-Z]+)\s*")

# 4,500 years. So what is added to event times, of the years 1 to 9999, is far from any overflow.
LONGEST = 2**57

_LONGEST_TEXT = 40


def parse_duration(text: str) -> int:
    """The microseconds of a text such as `5 seconds`; a ValueError of message and hint if none."""
    micros = _micros(text)
    if micros != int(micros):
        message = f"'{_shortened(text)}' is not a whole number of microseconds"
        raise ValueError(message, "make it longer")
    if abs(micros) > LONGEST:
        message = f"'{_shortened(text)}' is too long"
        raise ValueError(message, "write UNBOUNDED for a window without end")
    return int(micros)


def parse_seconds(text: str) -> float:
    """The seconds of a text such as `0.2 us`, however short; a ValueError as above if none."""
    return float(_micros(text) / 1_000_000)


def _micros(text: str) -> Decimal:
    match = _DURATION.fullmatch(text)
    size = UNITS.get(match[2].lower()) if match else None
    if match is None or size is None:
        raise ValueError(f"'{_shortened(text)}' is not a length of time", UNITS_HINT)
    return Decimal(match[1]) * size


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"
