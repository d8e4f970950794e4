"""Lengths of time: read as they are written (`10 SECONDS`, `'1.5 h'`), kept, and shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from penstock.slips import meant

MICROS = 1_000_000
"""Microseconds in a second."""

_SIZES = {
    ("day", "d"): 86_400 * MICROS,
    ("hour", "h"): 3_600 * MICROS,
    ("minute", "min"): 60 * MICROS,
    ("second", "sec", "s"): MICROS,
    ("millisecond", "ms"): 1_000,
    ("microsecond", "us"): 1,
}
_NAMES = {name: size for (name, *_), size in _SIZES.items()}
UNITS = {
    spelling: size
    for (name, *short), size in _SIZES.items()
    for spelling in (name, name + "s", *short)
}
UNITS_HINT = "the units are MICROSECONDS, MILLISECONDS, SECONDS, MINUTES, HOURS and DAYS"

_UNIT_WORDS = tuple(word for name in _NAMES for word in (f"{name}s".upper(), name.upper()))
_DURATION = re.compile(r"\s*(-?\d+(?:\.\d*)?|-?\.\d+)\s*([a-zA-Z]+)\s*")

# 4,500 years. So what is added to event times, of the years 1 to 9999, is far from any overflow.
LONGEST = 2**57

_LONGEST_TEXT = 40
# Fewer of a unit are shown with a tenth.
_FEW = 10


@dataclass(frozen=True, order=True)
class Duration:
    """A length of time in whole microseconds; as text, `90 SECONDS`."""

    micros: int

    @classmethod
    def parse(cls, text: str) -> Duration:
        """That of a text such as `5 seconds`; a ValueError of message and hint if it has none."""
        micros = _micros(text)
        if micros != int(micros):
            message = f"'{_shortened(text)}' is not a whole number of microseconds"
            raise ValueError(message, "make it longer")
        if abs(micros) > LONGEST:
            message = f"'{_shortened(text)}' is too long"
            raise ValueError(message, "write UNBOUNDED for a window without end")
        return cls(int(micros))

    @classmethod
    def of_seconds(cls, seconds: float) -> Duration:
        """That of a number of seconds, to the nearest microsecond; a ValueError if too long."""
        if not abs(seconds) * MICROS <= LONGEST:
            message = f"{seconds:g} seconds are too long"
            raise ValueError(message, f"the longest is {Duration(LONGEST).about}")
        return cls(round(seconds * MICROS))

    @property
    def seconds(self) -> float:
        return self.micros / MICROS

    def __str__(self) -> str:
        """The length in the largest unit that divides it: `90 SECONDS`, `1 HOUR`."""
        for name, size in _NAMES.items():
            if self.micros and self.micros % size == 0:
                count = self.micros // size
                return f"{count} {name.upper()}{'' if abs(count) == 1 else 'S'}"
        return "0 SECONDS"

    @property
    def about(self) -> str:
        """The length as people say it: `4 days`, `1.5 hours`, `40 minutes`."""
        sizes = ((name, size) for name, size in _NAMES.items() if abs(self.micros) >= size)
        unit, size = next(sizes, ("second", MICROS))
        count = self.micros / size
        shown = f"{count:,.0f}" if abs(count) >= _FEW else f"{count:.1f}".removesuffix(".0")
        return f"{shown} {unit}{'' if shown in ('1', '-1') else 's'}"


def parse_seconds(text: str) -> float:
    """The seconds of a text such as `0.2 us`, however short; a ValueError as above if none."""
    return float(_micros(text) / MICROS)


def _micros(text: str) -> Decimal:
    match = _DURATION.fullmatch(text)
    size = UNITS.get(match[2].lower()) if match else None
    if match is None or size is None:
        unit = None if match is None else meant(match[2], _UNIT_WORDS)
        hint = f"did you mean {unit}?" if unit else UNITS_HINT
        raise ValueError(f"'{_shortened(text)}' is not a length of time", hint)
    return Decimal(match[1]) * size


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"
