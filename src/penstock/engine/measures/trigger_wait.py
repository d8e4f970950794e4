"""The wait for a trigger: what Spark spends between two batches for no other reason."""

from __future__ import annotations

import time


class TriggerWait:
    """Tells how long a batch was waited for by the clock of a trigger.

    Spark begins a batch at multiples of its interval since the epoch, or at once if it is late.
    """

    def __init__(self, interval: float):
        self._interval = interval
        self._due = 0.0
        self._ended: float | None = None

    def begin(self) -> float:
        """A batch begins: the seconds for which it was only waited for."""
        now = time.time()
        waited = 0.0 if self._ended is None else max(min(now, self._due) - self._ended, 0.0)
        if self._interval > 0.0:
            self._due = (now // self._interval + 1) * self._interval
        return waited

    def end(self) -> None:
        """The batch has ended."""
        self._ended = time.time()
