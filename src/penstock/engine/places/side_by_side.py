"""Work on many files by several threads, where each waits most of the time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")

# Files above which it is worth starting threads, and how many of these.
_MANY = 64
_THREADS = 4
# Seconds a file below which there is nothing to wait for: threads would wait for each other.
_QUICK = 1e-4


def side_by_side(work: Callable[[Sequence[Item]], None], items: Sequence[Item]) -> None:
    """Have work done on all items, on parts of them at the same time if there are many and the
    first ones take long."""
    first, rest = items[:_MANY], items[_MANY:]
    started = time.monotonic()
    work(first)
    if not rest:
        return
    if time.monotonic() - started < _QUICK * _MANY:
        work(rest)
        return
    parts = [rest[number::_THREADS] for number in range(_THREADS)]
    with ThreadPoolExecutor(_THREADS) as threads:
        # Whatever fails in one of them is raised here.
        list(threads.map(work, parts))
