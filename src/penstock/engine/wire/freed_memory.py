"""Freed memory: kept for the next arrays, instead of being given back to the system each time.

A step makes arrays of some megabytes and frees them, hundreds of times in a batch. The C library
maps such memory anew each time, or cuts it off its heap when it is freed; the system then clears
every page of it again. That was a third of the time of a view over a join.
"""

from __future__ import annotations

import os
from ctypes import CDLL
from functools import lru_cache

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""What glibc's `mallopt` calls them (malloc.h)."""
_KEPT = 64 << 20
"""Bytes at the end of the heap that a process keeps though nobody uses them."""
_MAPPED = 32 << 20
"""Bytes from which on memory is mapped by itself: the most that glibc takes."""
_TUNED_BY = "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES"


@lru_cache(maxsize=1)
def keep_freed_memory() -> None:
    """Have this process keep it, once, where the C library is glibc and nobody has tuned that."""
    mallopt = getattr(CDLL(None), "mallopt", None) if os.name == "posix" else None
    if mallopt is not None and not any(name in os.environ for name in _TUNED_BY):
        mallopt(_MMAP_THRESHOLD, _MAPPED)
        mallopt(_TRIM_THRESHOLD, _KEPT)
