"""The announcement of a run: known, and to be told something, before it is ready to run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from penstock.engine.reports.run_head import STOPPED, RunHead, beaten, read_head, write_head
from penstock.engine.reports.segments import segments
from penstock.engine.state.store import Store
from penstock.errors import PenstockError


@contextmanager
def announced(store: Store, head: RunHead) -> Iterator[None]:
    """Say what is about to run here, for the length of a `with` block in which it is made ready.

    If it cannot run, the run before it is the last one again; where there was none, it is told why.
    """
    head = head if store.is_local else beaten(head, time.time())
    before = read_head(store)
    _try_to_write(store, head)
    try:
        yield
    except BaseException as error:
        failed = replace(head, ended_at=time.time(), error=message_of(error))
        last = before if _has_log(store) else None
        # Only if nobody has told of it since, who knows more.
        if read_head(store) == head:
            _try_to_write(store, last or failed)
        raise


def message_of(error: BaseException | None) -> str | None:
    """An error in a line, for the log; None of none, and `STOPPED` of Ctrl-C."""
    if error is None:
        return None
    if isinstance(error, KeyboardInterrupt):
        return STOPPED
    return error.message if isinstance(error, PenstockError) else f"{type(error).__name__}: {error}"


def _try_to_write(store: Store, head: RunHead) -> None:
    """No run ends because of what is told of it."""
    with suppress(OSError, PenstockError):
        write_head(store, head)


def _has_log(store: Store) -> bool:
    with suppress(OSError, PenstockError):
        return bool(segments(store))
    return False
