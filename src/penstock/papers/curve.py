"""A curve of results over time, and how work waits for the one server that does it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ROUNDING = 1e-9
"""The relative error of counts: all results are reached though their sum was rounded."""


@dataclass(frozen=True)
class Curve:
    """Results that are there by each of some times, in seconds since the query began.

    Nothing is known of what comes after `until`.
    """

    times: Floats
    counts: Floats
    until: float = inf

    @property
    def total(self) -> float:
        """Results by the end of the curve."""
        return self.results(self.until)

    def results(self, time: float) -> float:
        """Results by a time."""
        return float(np.interp(min(time, self.until), self.times, self.counts))

    def time_of(self, count: float) -> float | None:
        """When there are so many results; None if that is not by the end of the curve."""
        if count > self.total * (1 + ROUNDING):
            return None
        count = min(count, self.total)
        after = int(np.searchsorted(self.counts, count))
        stretch = slice(max(after - 1, 0), after + 1)
        return float(np.interp(count, self.counts[stretch], self.times[stretch]))


def served(times: Floats, work: Floats) -> Floats:
    """When a server that takes work in order, and is idle when there is none, has done what was
    there by each of some times; `work` is the seconds of it so far (Reich)."""
    done: Floats = work + np.maximum.accumulate(times - work)
    return done
