"""The report log of a run: a line a batch in its checkpoint, written behind the commit."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from queue import Empty, SimpleQueue
from threading import Event, Thread

from penstock.engine.reports.entries import Began, Ended, Entry
from penstock.engine.reports.report import Report
from penstock.engine.reports.run_head import BEAT, RunHead
from penstock.engine.reports.writer import Bounds, LogWriter
from penstock.engine.state.store import Store

_LOG = logging.getLogger(__name__)
_MOST_WAITING = 10_000
"""Entries that may wait for a store that hangs; later ones are left out."""
_PATIENCE = 30.0
"""Seconds that the end of a run waits for its last lines."""
_PACE = 0.2
"""Seconds between two writes: people do not see less, and to wake a thread for each of many small
batches takes more than to write their lines together."""
_REMOTE_PACE = 2.0
"""The same where each writes a whole segment."""


class ReportLog:
    """Takes entries and writes them in a thread of its own: no batch waits for it, and what goes
    wrong with it is a warning, once, and never an error of the run."""

    def __init__(self, store: Store, bounds: Bounds | None = None):
        self._store = store
        self._writer = LogWriter(store, bounds or Bounds())
        # Unlike a Queue, it may be put to in a signal's handler.
        self._entries: SimpleQueue[Entry | RunHead | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._is_closed = False
        self._closing = Event()
        self._is_warned = False

    def begin(self, head: RunHead) -> None:
        """Say what runs here from now on."""
        self._put(head)
        self._put(Began(head.started_at, head.batch, head.engine, head.host, head.process))

    def tell(self, entry: Entry) -> None:
        """Have an entry written, soon."""
        if isinstance(entry, Report) and not entry.at:
            entry = replace(entry, at=time.time())
        self._put(entry)

    def close(self, error: str | None = None) -> None:
        """Write all that was told, and that the run has ended."""
        if self._is_closed or self._thread is None:
            self._is_closed = True
            return
        self._put(Ended(time.time(), error))
        self._is_closed = True
        self._entries.put(None)
        self._closing.set()
        self._thread.join(_PATIENCE)
        if self._thread.is_alive():
            self._warn(f"it takes more than {_PATIENCE:.0f} s to write")

    def _put(self, entry: Entry | RunHead) -> None:
        if self._is_closed:
            return
        if self._entries.qsize() >= _MOST_WAITING:
            self._warn("it is written too slowly, so that lines are left out")
            return
        self._entries.put(entry)
        if self._thread is None:
            self._thread = Thread(target=self._work, name="penstock-reports", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        is_last = False
        while not is_last:
            taken, is_last = self._take()
            try:
                self._write(taken)
            except Exception as error:  # Whatever it is: no run ends because of its log.
                self._warn(str(error))
            self._closing.wait(_PACE if self._store.is_local else _REMOTE_PACE)

    def _write(self, taken: list[Entry | RunHead]) -> None:
        for head in (each for each in taken if isinstance(each, RunHead)):
            self._writer.head(head)
        entries = [each for each in taken if not isinstance(each, RunHead)]
        if entries:
            self._writer.write(entries)
        for end in (each for each in entries if isinstance(each, Ended)):
            self._writer.end(end.error)
        self._writer.beat()

    def _take(self) -> tuple[list[Entry | RunHead], bool]:
        """All that waits, and whether nothing will come after it."""
        taken: list[Entry | RunHead] = []
        try:
            entry = self._entries.get(timeout=None if self._store.is_local else BEAT)
            while entry is not None:
                taken.append(entry)
                entry = self._entries.get_nowait()
        except Empty:
            return taken, False
        return taken, True

    def _warn(self, reason: str) -> None:
        if not self._is_warned:
            self._is_warned = True
            _LOG.warning("the report log in %s is incomplete: %s", self._store.root, reason)
