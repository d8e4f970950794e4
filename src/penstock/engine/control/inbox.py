"""The inbox of a run: orders in its checkpoint, found between batches and while it waits."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from queue import Empty, SimpleQueue
from threading import Thread

from pyarrow.fs import FileType

from penstock.engine.control.order import (
    FOLDER,
    Malformed,
    Order,
    file_of,
    names_among,
    read_order,
)
from penstock.engine.state.store import Store
from penstock.errors import PenstockError

_LOG = logging.getLogger(__name__)

Found = Order | Malformed

_PACE = 0.2
_REMOTE_PACE = 2.0
"""Seconds between two looks."""


class Inbox:
    """Looks for orders now and then: a local folder at once, one that is farther away in a thread,
    so that no batch waits for its answer."""

    def __init__(self, store: Store):
        self._store = store
        self._pace = _PACE if store.is_local else _REMOTE_PACE
        self._next_look = 0.0
        self._looking: Thread | None = None
        self._found: SimpleQueue[Found] = SimpleQueue()
        self._taken: set[str] = set()
        self._suspects: set[str] = set()
        self._is_warned = False

    def stale(self, before: Iterable[str]) -> list[Found]:
        """The orders among the files that were there before the run."""
        self._look(names_among(before), is_patient=False)
        return self._waiting()

    def take(self) -> list[Found]:
        """The orders that have come since the last time, in their order."""
        now = time.monotonic()
        if now >= self._next_look and (self._looking is None or not self._looking.is_alive()):
            self._next_look = now + self._pace
            if self._store.is_local:
                self._look()
            else:
                self._looking = Thread(target=self._look, name="penstock-orders", daemon=True)
                self._looking.start()
        return self._waiting()

    def done(self, name: str) -> None:
        """Delete the file of an order that was answered."""
        try:
            self._store.remove([file_of(name)])
        except (OSError, PenstockError):
            return  # It is told of again in the next run, as one from before.
        self._taken.discard(name)
        self._suspects.discard(name)

    def _waiting(self) -> list[Found]:
        found: list[Found] = []
        try:
            while True:
                found.append(self._found.get_nowait())
        except Empty:
            return found

    def _look(self, wanted: list[str] | None = None, *, is_patient: bool = True) -> None:
        try:
            names = self._listed() if wanted is None else wanted
            for name in names:
                if name not in self._taken:
                    self._read(name, is_patient)
        except (OSError, PenstockError):
            return  # A store that cannot be reached now; the next batch will tell.

    def _listed(self) -> list[str]:
        """The names of the orders that are there; of a folder among them it is told once."""
        place = self._store.root / FOLDER
        entries = {name: info.type for name, info in place.entries()}
        folders = [name for name, kind in entries.items() if kind == FileType.Directory]
        if folders and not self._is_warned:
            self._is_warned = True
            _LOG.warning("%s is a folder: orders are files", place / min(folders))
        return names_among(f"{FOLDER}/{name}" for name in entries if name not in folders)

    def _read(self, name: str, is_patient: bool) -> None:
        """Take an order; what is none may be half written, and gets a second look."""
        order = read_order(self._store, name)
        if isinstance(order, Malformed) and is_patient and name not in self._suspects:
            self._suspects.add(name)
        elif order is not None:
            self._taken.add(name)
            self._found.put(order)
