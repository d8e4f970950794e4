"""Collecting garbage: put off where the driver makes a hundred thousand small objects that are no
garbage. Looking through them over and over again would take a quarter of its time."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

_MANY = 1 << 15
"""Objects that a block leaves above which nobody looks through them afterwards either."""
_TURNS = 64
"""Such blocks after which all objects are looked through: some garbage may be among them."""
_blocks = count(1)


@contextmanager
def uncollected() -> Iterator[None]:
    """Have no cycles looked for meanwhile; what is in none is freed as ever."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            _set_aside()
            gc.enable()


def _set_aside() -> None:
    """Have many new objects be taken for old ones that are in use."""
    if gc.get_count()[0] <= _MANY:
        return
    if next(_blocks) % _TURNS == 0:
        gc.unfreeze()
        gc.collect()
    gc.freeze()
