"""Reading a log again and again: each time only what has been written since."""

from __future__ import annotations

import time
from collections import deque

from penstock.engine.reports.entries import Entry
from penstock.engine.reports.reading import Position, end_of, entries_after
from penstock.engine.reports.standing import store_of
from penstock.engine.state.store import Store
from penstock.watch.log_view import MOST, LogView, log_view

_BEGIN: Position = ("", 0)


class LogReader:
    """Follows the log of a checkpoint, which may be written meanwhile, or begun anew."""

    def __init__(self, checkpoint: str):
        self.store: Store = store_of(checkpoint)
        self._position = _BEGIN
        self._entries: deque[Entry] = deque(maxlen=2 * MOST)

    def read(self, now: float | None = None) -> LogView:
        """The log as it is now, in seconds since the epoch; a CheckpointError if it is gone."""
        end = end_of(self.store)
        if end < self._position:  # Somebody has overwritten the checkpoint.
            self._position = _BEGIN
            self._entries.clear()
        if end != self._position:
            found, self._position = entries_after(self.store, self._position)
            self._entries.extend(found)
        return log_view(self.store, self._entries, time.time() if now is None else now)


def read_log(checkpoint: str, now: float | None = None) -> LogView:
    """The log of a checkpoint as it is now; a CheckpointError if there is none."""
    return LogReader(checkpoint).read(now)
