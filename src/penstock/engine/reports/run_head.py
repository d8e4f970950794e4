"""The head of a report log: what runs on a checkpoint, where, and since when."""

from __future__ import annotations

import json
import os
import socket
import time
from dataclasses import dataclass, field, replace

from penstock.engine.reports.json_fields import as_json, from_json
from penstock.engine.state.hold import is_held
from penstock.engine.state.store import Store

NAME = "reports/run.json"
BEAT = 10.0
"""Seconds between two signs of life, where no lock tells whether a run goes on."""
_SILENT = 3 * BEAT
"""Seconds without one after which it does not: some are late, and clocks differ a little."""

STOPPED = "stopped by the user"
"""What stands for the error of a run whose user ended it at once: there was none."""

_OWNER_ONLY = 0o600
"""Permissions: the text of a query may have passwords in it."""


@dataclass(frozen=True)
class RunHead:
    """The latest run on a checkpoint. Times are seconds since the epoch."""

    query: str
    """The text of its query."""

    engine: str
    sink: str
    """Where results go, without passwords."""

    version: int = 1
    trigger: float = 0.0
    """Seconds between two looks for data."""

    available_now: bool = False
    delay: float | None = None
    """Seconds that results may be late at most; None where nobody has said."""

    drain: bool = False
    partitions: int = 0
    batch: int = 0
    """The number of its first batch."""

    host: str = field(default_factory=socket.gethostname)
    process: int = field(default_factory=os.getpid)
    started_at: float = field(default_factory=time.time)
    seen_at: float | None = None
    """When it gave its last sign of life; None where the lock of the checkpoint tells."""

    ended_at: float | None = None
    error: str | None = None
    """The error that ended it, if one did; `STOPPED` where its user did so at once."""


def write_head(store: Store, head: RunHead) -> None:
    """Put the head in the place of an earlier run's."""
    data = json.dumps(as_json(head), indent=1, ensure_ascii=False).encode()
    store.replace(NAME, data, mode=_OWNER_ONLY)


def left_drafts(store: Store) -> list[str]:
    """Drafts of heads, as a crash may leave them."""
    return [name for name in store.names("reports") if name.startswith("reports/.")]


def read_head(store: Store) -> RunHead | None:
    """The head of the latest run; None where there is none that can be read."""
    if not store.exists(NAME):
        return None
    try:
        with store.open(NAME) as file:
            return from_json(RunHead, json.loads(file.read()))
    except (ValueError, TypeError, OSError):
        return None


def is_running(store: Store, head: RunHead | None, now: float) -> bool:
    """Whether a run has the checkpoint: by its lock, or by signs of life where there is none."""
    if store.is_local:
        return is_held(store)
    if head is None or head.ended_at is not None or head.seen_at is None:
        return False
    is_here = head.host == socket.gethostname()
    return now - head.seen_at < _SILENT and (not is_here or _is_alive(head.process))


def beaten(head: RunHead, now: float) -> RunHead:
    """The head with a sign of life."""
    return replace(head, seen_at=now)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # It belongs to somebody else.
        return True
    return True
