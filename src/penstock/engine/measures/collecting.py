"""Collecting garbage: put off where the driver makes a hundred thousand small objects that are no
garbage. Looking through them over and over again would take a quarter of its time."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Have no cycles looked for meanwhile; what is in none is freed as ever."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
