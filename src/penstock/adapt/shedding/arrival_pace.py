"""The pace of arrivals: how long it takes, by the clock, until a second of event time has come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

_FEW = 4
"""Arrivals from which on the pace is believed; before that event time comes as the clock goes."""
_PACES = (0.01, 100.0)
"""The paces that are believed: streams that are replayed faster or slower than they happened."""
_LUMP = 4.0
"""How many times as fast as usual data comes that was moved there all at once: it is caught up
with, and says nothing of what comes next."""


@dataclass(frozen=True)
class Arrived:
    """Event time that came, and the time by the clock in which it did; both in seconds."""

    clock: float
    event: float

    @property
    def pace(self) -> float:
        return self.clock / self.event if self.event > 0.0 else inf


def arrival_pace(found: Sequence[Arrived]) -> float:
    """Seconds of the clock for a second of event time. Where nothing comes, that is long."""
    found = [each for each in found if each.clock > 0.0]
    if len(found) < _FEW:
        return 1.0
    usual = _usual(found)
    steady = [each for each in found if _LUMP * each.pace >= usual]
    event = sum(each.event for each in steady)
    low, high = _PACES
    return min(high, max(low, sum(each.clock for each in steady) / event)) if event > 0 else high


def _usual(found: Sequence[Arrived]) -> float:
    """The pace of half of the time."""
    passed, half = 0.0, sum(each.clock for each in found) / 2.0
    for each in sorted(found, key=lambda each: each.pace):
        passed += each.clock
        if passed >= half:
            return each.pace
    return inf
