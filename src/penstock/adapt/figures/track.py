"""A figure as it is followed: a ratio of sums in which older batches count less and less."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import pairwise
from math import expm1, hypot, inf, log, sqrt
from statistics import fmean, pvariance

from penstock.adapt.settings import Settings

_FORGOTTEN = 1e-9
"""Seconds or rows of which so little is left say nothing; less would lose its digits."""
_LAST = 2
"""Readings that tell whether a figure is behind: one alone may be an accident."""


@dataclass(frozen=True)
class Reading:
    """A figure in one batch: `above` of `below`, and the events that its noise comes from.

    `doubt` is the relative error of what was only sampled. The next batches sample much the same,
    so that it does not even out. `fresh` is the part of the events that the batch before had no
    share in: of a window of a hundred batches, a hundredth.
    """

    above: float
    below: float
    hits: float
    doubt: float = 0.0
    fresh: float = 1.0

    @property
    def value(self) -> float:
        return self.above / self.below


@dataclass
class Track:
    """The decayed sums of a figure, and its latest readings one by one.

    `squares` are the events with their weights squared, from which the error of the sums follows.
    `age` are the batches since something was read.
    """

    remembered: int
    above: float = 0.0
    below: float = 0.0
    hits: float = 0.0
    squares: float = 0.0
    doubt: float = 0.0
    age: int = 0
    recent: deque[tuple[Reading, float]] = field(default_factory=deque)

    def add(self, reading: Reading, decay: float) -> None:
        """Take a batch's reading; what was before counts `decay` times as much."""
        self.recent.append((reading, decay))
        if len(self.recent) > self.remembered:
            self.recent.popleft()
        self._count(reading, decay)

    def _count(self, reading: Reading, decay: float) -> None:
        self.fade(decay)
        self.age = 0
        self.above += reading.above
        self.below += reading.below
        self.hits += reading.hits
        self.squares += reading.hits
        self.doubt = reading.doubt

    def fade(self, decay: float) -> None:
        """Let a batch pass in which nothing was read."""
        self.age += 1
        self.above *= decay
        self.below *= decay
        self.hits *= decay
        self.squares *= decay * decay
        if self.below < _FORGOTTEN:
            self.above = self.below = self.hits = self.squares = 0.0

    def restart(self, batches: int) -> None:
        """Forget all but the latest readings."""
        kept = list(self.recent)[-batches:] if batches > 0 else []
        self.recent.clear()
        self.recent.extend(kept)
        self.narrow(batches)

    def narrow(self, batches: int) -> None:
        """Let the latest readings alone count, and remember the others: what moves goes on."""
        self.above = self.below = self.hits = self.squares = 0.0
        for reading, decay in list(self.recent)[-batches:] if batches > 0 else []:
            self._count(reading, decay)

    def is_moving(self, settings: Settings) -> bool:
        """Whether the latest readings have left the figure behind, as a wave does.

        They are compared by how much the steps from batch to batch differ: noise, whatever it is,
        goes up and down, and what moves goes on.
        """
        latest, steps = settings.moving_batches, settings.moving_steps
        if len(self.recent) <= steps or self.value <= 0.0:
            return False
        readings = [self.recent[-i][0] for i in range(1, steps + 2)]
        if min(min(each.above, each.hits) for each in readings) <= 0.0:
            return False
        values = [log(each.value) for each in readings]
        noise = pvariance([a - b for a, b in pairwise(values)]) / 2.0
        # Of independent events a batch has this at the least.
        noise = max(noise, max(1.0 / (each.hits * each.fresh + 1.0) for each in readings))
        away = abs(fmean(values[:latest]) - log(self.value)) / sqrt(noise / latest)
        # What goes on at a pace is hardly away from what was read while it did.
        gone = abs(values[0] - values[steps // 2]) / sqrt(2.0 * noise)
        return max(away, gone) > settings.moving_errors

    @property
    def lag(self) -> float:
        """By what part of it the figure is behind its last readings, beyond their own noise: after
        a step older readings still count, and windows still have older tuples."""
        last = [reading for reading, _ in self.recent][-_LAST:]
        if len(last) < _LAST or min(self.value, *(each.above for each in last)) <= 0.0:
            return 0.0
        away = abs(fmean(log(each.value) for each in last) - log(self.value))
        noise = sqrt(sum(1.0 / max(each.hits, 1.0) for each in last)) / _LAST
        return expm1(max(0.0, away - 2.0 * noise))

    @property
    def value(self) -> float:
        return self.above / self.below if self.below > 0.0 else 0.0

    @property
    def variation(self) -> float:
        """Of a rate: the standard deviation of the tuples of a second as a part of their mean, by
        the readings that are kept, as if seconds were independent of each other."""
        readings = [each for each, _ in self.recent if each.below > 0.0]
        seconds = sum(each.below for each in readings)
        mean = sum(each.above for each in readings) / seconds if seconds else 0.0
        if len(readings) < 2 or mean <= 0.0:
            return 0.0
        squares = sum((each.above - mean * each.below) ** 2 / each.below for each in readings)
        return sqrt(squares / (len(readings) - 1)) / mean

    @property
    def relative_error(self) -> float:
        """The standard error as a part of the value, as if events came independently."""
        return hypot(sqrt(self.squares) / self.hits, self.doubt) if self.hits > 0.0 else inf
