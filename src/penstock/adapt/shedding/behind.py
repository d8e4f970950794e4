"""Falling behind: said once, with the numbers and what would help, and then rarely."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import pairwise

from penstock.adapt.settings import DEFAULT_SETTINGS, Settings
from penstock.duration import Duration
from penstock.engine.reports.parts import Change


class Behind:
    """Watches whether the delay grows while nothing is waited for."""

    def __init__(self, settings: Settings = DEFAULT_SETTINGS):
        self._settings = settings
        self._delays: deque[float] = deque(maxlen=settings.behind_batches)
        self._told: float | None = None

    def hear(self, delay: float, load: float, remedy: Callable[[], str]) -> Change | None:
        """What to say after a batch: `load` is the seconds that a second of data takes."""
        self._delays.append(delay)
        if load <= 1.0 or not self._is_growing():
            if self._told is not None and delay < self._settings.behind_caught_up * self._told:
                self._told = None
            return None
        if self._told is not None and delay < self._settings.behind_again * self._told:
            return None
        self._told = delay
        return Change("behind", _reason(self._delays[0], delay, len(self._delays), load, remedy()))

    def _is_growing(self) -> bool:
        """Whether each batch of the last ones was later than the one before, or most by much."""
        delays = list(self._delays)
        if len(delays) < self._settings.behind_batches:
            return False
        later = sum(a < b for a, b in pairwise(delays))
        return later >= len(delays) - 2 and delays[-1] > self._settings.behind_growth * delays[0]


def _reason(before: float, delay: float, batches: int, load: float, remedy: str) -> str:
    grown = f"the delay has grown from {before:.1f} s to {delay:.1f} s in {batches} batches"
    return f"a second of data takes {load:.2g} s: {grown}; {remedy}"


def remedy_of(kept: float | None, load: float, target: float) -> str:
    """What would help: shedding, and what it would leave; or more cores."""
    wanted = Duration.of_seconds(target)
    left = "" if kept is None else f" (about {kept:.0%} of the results would be left)"
    return f"--shed --delay '{wanted}'{left}, or {load:.2g} times the cores, would help"
