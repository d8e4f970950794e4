"""When the events of a made-up sequence come: evenly at a rate, or at one that changes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from penstock.duration import MICROS
from penstock.engine.sources.made.rate_shape import Floats, RateShape

Numbers = np.ndarray[Any, np.dtype[np.int64]]

SPAN = 100_000
"""Times of that many events that follow each other can be had in int64."""
_SHORTEST, _LONGEST = 100_000, MICROS
_BLOCK_EVENTS = 1_000


@dataclass(frozen=True)
class EventTimes:
    """Event *n* comes at *n*/rate; with a shape, when so many have come by the rate until then.

    Times are microseconds from the start; `rate` is events/s.
    """

    rate: Fraction
    shape: RateShape | None = None

    @classmethod
    def at(cls, rate: float, shape: RateShape | None) -> EventTimes:
        """Those of a rate, taken as a fraction small enough for a span of events."""
        return cls(Fraction(str(rate)).limit_denominator(10**12 // SPAN), shape)

    @cached_property
    def block_micros(self) -> int:
        """The length of a block: about 1,000 events' time, from 100 ms to 1 s."""
        worth = int(_BLOCK_EVENTS * MICROS / self.rate)
        return min(max(_SHORTEST, worth), _LONGEST)

    def before(self, time: int) -> int:
        """How many events come before a time."""
        if self.shape is None:
            return ceil(time * self.rate / MICROS)
        return ceil(float(self._come(np.array([time]))[0]))

    def block_of(self, event: int) -> int:
        """The block in which an event comes."""
        return int(self.of(np.array([event]))[0]) // self.block_micros

    def of(self, events: Numbers) -> Numbers:
        """The times of events, of which no two are further apart than a span."""
        if not len(events):
            return events
        first, last = int(events.min()), int(events.max())
        if self.shape is not None:
            ends = [self._found(np.array([n]), *self._bounds(n))[0] for n in (first, last)]
            return self._found(events, int(ends[0]), int(ends[1]) + 1)
        # In integers, because floats would drift.
        gap = MICROS / self.rate
        whole, part = divmod(first * gap.numerator, gap.denominator)
        offsets: Numbers = (part + (events - first) * gap.numerator) // gap.denominator
        return offsets + whole

    def _bounds(self, event: int) -> tuple[int, int]:
        """Times between which an event comes, whatever the shape."""
        assert self.shape is not None
        fastest, slowest = max(1.0, self.shape.factor), min(1.0, self.shape.factor)
        even = event * MICROS / float(self.rate)
        return max(0, int(even / fastest) - 1), int(even / slowest) + 2

    def _found(self, events: Numbers, low: int, high: int) -> Numbers:
        """The last microsecond by which no more events have come than have numbers below theirs.

        It is looked for between two times, halving what is left for all at once.
        """
        lows, width = np.full(len(events), low, np.int64), high - low
        while width > 1:
            width = (width + 1) // 2
            is_later = self._come(lows + width) <= events
            lows[is_later] += width
        return lows

    def _come(self, times: Numbers) -> Floats:
        """How many events have come by then, in fractions of events too."""
        assert self.shape is not None
        return self.shape.weighed(times.astype(np.float64)) * (float(self.rate) / MICROS)
