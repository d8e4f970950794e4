"""The attendant of a run: it has orders obeyed one after another, and each of them answered."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from threading import Lock

from penstock.engine.control.inbox import Found, Inbox
from penstock.engine.control.order import Malformed, Order
from penstock.engine.reports.entries import Answer
from penstock.engine.reports.parts import Change
from penstock.engine.state.store import Store
from penstock.errors import PenstockError

_LOG = logging.getLogger(__name__)


class Attendant:
    """Has `obey` do what orders say, which gives the answer in words or a PenstockError, and
    `tell` hear of every answer."""

    def __init__(
        self, store: Store, obey: Callable[[Order], str], tell: Callable[[Answer], None]
    ) -> None:
        self._inbox = Inbox(store)
        self._obey = obey
        self._tell = tell
        self._attending = Lock()

    def refuse_stale(self, before: Iterable[str]) -> None:
        """Refuse the orders among files from before this run: they were meant for another."""
        for found in self._inbox.stale(before):
            self._answer(found, "it was given before this run", is_refused=True)

    def attend(self) -> None:
        """Obey what has been ordered; nothing, while another thread is about that."""
        if not self._attending.acquire(blocking=False):
            return
        try:
            for found in self._inbox.take():
                self._attend(found)
        finally:
            self._attending.release()

    def _attend(self, found: Found) -> None:
        if isinstance(found, Malformed):
            self._answer(found, found.reason, is_refused=True)
            return
        try:
            said = self._obey(found)
        except PenstockError as error:
            self._answer(found, str(error), is_refused=True)
        except Exception as error:
            # An order comes from outside: none may end the run.
            _LOG.warning("cannot obey %s", found.name, exc_info=True)
            self._answer(found, f"it cannot be done ({type(error).__name__})", is_refused=True)
        else:
            self._answer(found, said)

    def _answer(self, found: Found, said: str, *, is_refused: bool = False) -> None:
        what = str(found) if isinstance(found, Order) else f"file {found.name}.json"
        reason = f"{what}: {'refused: ' if is_refused else ''}{said}"
        change = Change("order", reason)
        self._tell(Answer(time.time(), found.name, change, is_refused))
        self._inbox.done(found.name)
