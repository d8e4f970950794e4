"""A worker that is settled: what it has loaded is not looked through for garbage any more, and it
keeps the memory that it frees."""

from __future__ import annotations

import gc
from functools import lru_cache

from penstock.engine.wire.freed_memory import keep_freed_memory


@lru_cache(maxsize=1)
def settle() -> None:
    """Take what is loaded by now out of the collector's sight, once in a process.

    Spark's workers collect garbage after every task. With all the modules and compiled kernels that
    they have loaded, which stay anyway, that takes longer than many a task.
    """
    gc.freeze()
    keep_freed_memory()
