"""Workers that are settled collect what tasks leave, and do not look at what was there before."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from penstock.engine.wire.settled import settle


@pytest.fixture
def unsettled() -> Iterator[None]:
    """A process that was never settled, before and after."""
    settle.cache_clear()
    yield
    settle.cache_clear()
    gc.unfreeze()


class Node:
    """Something that may be part of a circle, which only the collector finds."""

    def __init__(self) -> None:
        self.next = self


@pytest.mark.usefixtures("unsettled")
def test_only_what_comes_later_is_looked_at() -> None:
    before = gc.get_freeze_count()
    settle()
    frozen = gc.get_freeze_count()
    assert frozen > before + 1000
    after = weakref.ref(Node())
    assert after() is not None
    gc.collect()
    assert after() is None
    settle()
    assert gc.get_freeze_count() <= frozen
