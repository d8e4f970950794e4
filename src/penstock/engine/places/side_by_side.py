"""Work on many files by several threads: each waits for the disk or network most of the time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")

# Files above which it is worth starting threads, and how many of these.
_MANY = 64
_THREADS = 4


def side_by_side(work: Callable[[Sequence[Item]], None], items: Sequence[Item]) -> None:
    """Have work done on all items, on parts of them at the same time if there are many."""
    if len(items) <= _MANY:
        work(items)
        return
    parts = [items[number::_THREADS] for number in range(_THREADS)]
    with ThreadPoolExecutor(_THREADS) as threads:
        # Whatever fails in one of them is raised here.
        list(threads.map(work, parts))
