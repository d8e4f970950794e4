"""A measured figure, and whether it counts against one that is given."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, sqrt

from penstock.adapt.settings import Settings
from penstock.figure import Figure


@dataclass(frozen=True)
class Measured:
    """A ratio of `hits` events to what they were among; `unit` is what one event makes of it.

    `lag` is the part by which it is behind the last batches. Whether it counts depends on its
    noise alone: what lags is still nearer to the truth than what was given.
    """

    value: float
    relative_error: float
    hits: float
    unit: float
    lag: float = 0.0

    @property
    def error(self) -> float:
        """What the value may be off by, in its own unit."""
        return self.value * hypot(self.relative_error, self.lag)

    @property
    def figure(self) -> Figure:
        return Figure(self.value, "measured", self.error)

    def is_known(self, settings: Settings) -> bool:
        """Whether it stands by itself."""
        return self.hits >= settings.least_hits and self.relative_error <= settings.most_error

    def over(self, given: Figure, settings: Settings) -> Figure | None:
        """The figure to plan with instead of the given one; None to keep that.

        Few events, or none, still say that a given figure is much too large or too small.
        """
        if self.is_known(settings):
            return self.figure
        spread = settings.none_seen * sqrt(self.hits)
        most = (self.hits + spread + settings.none_seen) * self.unit
        least = (self.hits - spread) * self.unit
        if least <= given.value <= most:
            return None
        value = self.value if self.value > 0.0 else most
        return Figure(value, "measured", value)
