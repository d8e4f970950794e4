"""Ctrl-C and polite kills: a query that runs ends after its batch, everything else at once."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Signals:
    """Takes charge of both signals for as long as the `with` block lasts.

    They interrupt, like Ctrl-C everywhere, until there is something to stop. The first one then
    stops that; the next one interrupts again, for those who cannot wait.
    """

    def __init__(self) -> None:
        self._stop: Callable[[], None] | None = None
        self.has_stopped = False
        """Whether something was stopped by a signal."""

    def __enter__(self) -> Signals:
        self._before = [signal.signal(number, self._handle) for number in _SIGNALS]
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in zip(_SIGNALS, self._before, strict=True):
            signal.signal(number, handler)

    def stop_with(self, stop: Callable[[], None]) -> None:
        """Have the next signal call a function."""
        self._stop = stop

    def _handle(self, *_: Any) -> None:
        stop, self._stop = self._stop, None
        if stop is None:
            raise KeyboardInterrupt
        self.has_stopped = True
        stop()
