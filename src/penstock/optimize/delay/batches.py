"""Batches as a queueing model has them: what they take, and how far apart they start."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Service:
    """The seconds that batches take: to start, for a second of data, and the standard deviation of
    what a second of data brings."""

    start: float
    load: float
    spread: float


@dataclass(frozen=True)
class Interval:
    """Mean and variance of the seconds between the starts of two batches."""

    mean: float
    variance: float

    @property
    def seen(self) -> float:
        """Seconds of the interval that a tuple arrives in: it is more often in a long one."""
        return self.mean + self.variance / self.mean
