"""The detector of one figure: its logarithms, standardised by the noise that is known.

ADWIN sees steps of some standard deviations. A large one makes the variance of its window so large
that it waits for batches: two in a row that are far from all before, or one that is very far, are
taken for a step at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from math import exp, hypot, log, sqrt
from typing import Any

from penstock.adapt.figures.track import Reading
from penstock.adapt.settings import Settings

Windows = Callable[[], "Adwin"]
"""Makes an adaptive window."""

_HALF = 0.5
"""Events that stand for none, where a logarithm is wanted."""
_LEAST_BEFORE = 2
"""Batches before a jump, without which there is nothing to be far from."""


def load_windows(settings: Settings) -> Windows:
    """ADWIN with one value a batch.

    Of River only what is compiled is loaded. Its own face for that brings pandas, SciPy and
    scikit-learn along, which takes a second.
    """
    from river._river_rust.drift import AdaptiveWindowing

    least = settings.drift_least
    made = partial(
        AdaptiveWindowing,
        delta=settings.drift_delta,
        clock=1,
        grace_period=least,
        min_window_length=least,
    )
    return partial(Adwin, made)


class Adwin:
    """River's adaptive window, which after a drift begins anew with the next value."""

    def __init__(self, made: Callable[[], Any]):
        self._made = made
        self._window = made()
        self._has_drifted = False

    def drifts(self, value: float) -> bool:
        """Whether a value, which is added to those before, shows a drift."""
        if self._has_drifted:
            self._window = self._made()
        self._has_drifted = bool(self._window.update(value))
        return self._has_drifted


class Detector:
    """The window of one figure, relative to the value it had when it began."""

    def __init__(self, settings: Settings):
        self._settings = settings
        self._reference: float | None = None
        self._doubt = 0.0
        self._each = 1.0
        self._total = self._squares = 0.0
        self._window: Adwin | None = None
        self._values: deque[float] = deque(maxlen=settings.remembered_batches)

    def see(self, reading: Reading, windows: Windows) -> int | None:
        """Batches since the figure has changed, this one included; None if it has not."""
        value, noise = _logarithm(reading), self._noise(reading)
        if self._reference is None:
            self._reference, self._doubt = value, noise
        # The reference has its noise too: larger batches would see that as a drift.
        value = (value - self._reference) / hypot(noise, self._doubt)
        self._add(value)
        jumped = self._jumped()
        if jumped is not None:
            return jumped
        self._window = self._window or windows()
        return batches_since(self._values) if self._window.drifts(value) else None

    def begin(self) -> None:
        """Begin anew: the next value is what others are compared with."""
        self._window = None
        self._values.clear()
        self._total = self._squares = 0.0
        self._reference = None

    def _add(self, value: float) -> None:
        gone = self._values[0] if len(self._values) == self._values.maxlen else 0.0
        self._values.append(value)
        self._total += value - gone
        self._squares += value * value - gone * gone

    def _jumped(self) -> int | None:
        """Whether the latest batches are far from all before, by the noise these had."""
        values, settings = self._values, self._settings
        for batches, errors in ((2, settings.jump_of_two), (1, settings.jump_of_one)):
            count = len(values) - batches
            if count < _LEAST_BEFORE:
                continue
            latest = [values[-i] for i in range(1, batches + 1)]
            middle = (self._total - sum(latest)) / count
            squares = self._squares - sum(value * value for value in latest)
            spread = sqrt(max(1.0, squares / count - middle * middle))
            away = [(value - middle) / spread for value in latest]
            if min(away) > errors or max(away) < -errors:
                return batches
        return None

    def _noise(self, reading: Reading) -> float:
        """The noise of a logarithm of events that come independently: of those that came, or, where
        there are fewer, that were to come."""
        # What was there before says nothing new: batch after batch would seem to confirm it.
        hits = reading.hits * reading.fresh
        if reading.above > 0.0 and hits > 0.0:
            self._each = hits / reading.above
        awaited = 0.0
        if self._reference is not None:
            awaited = exp(self._reference) * reading.below * self._each
        events = 1.0 / sqrt(max(_HALF, hits, awaited))
        return max(self._settings.least_noise, hypot(events, reading.doubt))


def batches_since(values: Sequence[float]) -> int:
    """The values after the likeliest step: where both sides differ the most from each other."""
    count, total, left = len(values), sum(values), 0.0
    best, found = -1.0, count
    for place in range(1, count):
        left += values[place - 1]
        means = left / place, (total - left) / (count - place)
        apart = (means[0] - means[1]) ** 2 * place * (count - place)
        if apart > best:
            best, found = apart, count - place
    return found


def _logarithm(reading: Reading) -> float:
    is_any = reading.above > 0.0 and reading.hits >= _HALF
    return log(reading.value) if is_any else log(_HALF / reading.below)
