"""Rate shapes: how the rate of a synthetic stream changes, as factors of it over event time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np

from penstock.duration import Duration

Floats = np.ndarray[Any, np.dtype[np.float64]]
ShapeName = Literal["step", "burst", "square", "sine"]

FORMS = "step(at, factor), burst(at, length, factor), square(period, factor), sine(period, factor)"
_LENGTHS: dict[str, int] = {"step": 1, "burst": 2, "square": 1, "sine": 1}
_FACTORS = (1e-6, 1e6)
_TEXT = re.compile(r"\s*(\w+)\s*\(([^()]*)\)\s*")


@dataclass(frozen=True)
class RateShape:
    """A shape with its lengths of time, microseconds, and the factor of the rate.

    A step keeps the factor from `lengths[0]` on, a burst for `lengths[1]` from there. A square has
    it in the second half of each period; a sine swings between the rate and that many times it.
    """

    name: ShapeName
    lengths: tuple[int, ...]
    factor: float

    @classmethod
    def parse(cls, text: str) -> RateShape:
        """The shape of a text such as `burst(20 s, 10 s, 5)`; ValueError says what is wrong."""
        found = _TEXT.fullmatch(text)
        if found is None or found[1].lower() not in _LENGTHS:
            raise ValueError(f"{text.strip()[:40]!r} is none of {FORMS}")
        name, parts = found[1].lower(), [part.strip() for part in found[2].split(",")]
        if len(parts) != _LENGTHS[name] + 1:
            raise ValueError(f"{name} has {_LENGTHS[name] + 1} arguments: {FORMS}")
        lengths = tuple(_micros(part) for part in parts[:-1])
        if name in ("square", "sine") and lengths[0] < 1:
            raise ValueError(f"the period of a {name} must be longer than 0")
        return cls(cast(ShapeName, name), lengths, _factor(parts[-1]))

    def factors(self, first: int, count: int, length: int) -> Floats:
        """The mean factor of each of `count` blocks of `length` microseconds, from `first` on."""
        edges = (np.arange(count + 1, dtype=np.float64) + first) * length
        if self.name == "sine":
            (period,) = self.lengths
            swing = np.diff(np.sin(2 * np.pi * edges / period)) * period / (2 * np.pi * length)
            return 1.0 + (self.factor - 1.0) * (1.0 - swing) / 2.0
        return 1.0 + (self.factor - 1.0) * np.diff(self._raised(edges)) / length

    def weighed(self, times: Floats) -> Floats:
        """The time by then, microseconds from the start, each as often as the factor says."""
        if self.name == "sine":
            (period,) = self.lengths
            swing = np.sin(2 * np.pi * times / period) * period / (2 * np.pi)
            return times + (self.factor - 1.0) * (times - swing) / 2.0
        return times + (self.factor - 1.0) * self._raised(times)

    def _raised(self, times: Floats) -> Floats:
        """The time by then in which the factor held."""
        match self.name:
            case "square":
                half = self.lengths[0] / 2
                whole, rest = np.divmod(times, self.lengths[0])
                return whole * half + np.maximum(rest - half, 0.0)
            case "burst":
                return np.clip(times - self.lengths[0], 0.0, self.lengths[1])
        return np.maximum(times - self.lengths[0], 0.0)


def _micros(text: str) -> int:
    try:
        found = Duration.parse(text).micros
    except ValueError as error:
        raise ValueError(error.args[0]) from None
    if found < 0:
        raise ValueError(f"{text!r} is before the start")
    return found


def _factor(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        raise ValueError(f"{text!r} is no number") from None
    if not _FACTORS[0] <= found <= _FACTORS[1]:
        raise ValueError(f"a factor of {found:g} is not between {_FACTORS[0]:g} and 1,000,000")
    return found
