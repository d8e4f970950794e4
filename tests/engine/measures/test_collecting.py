"""Garbage is not looked for among what a large batch makes, and is found all the same."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from itertools import count

import pytest

from penstock.engine.measures import collecting
from penstock.engine.measures.collecting import uncollected

MANY = 1000


class Node:
    """An object that can be in a cycle."""

    other: object = None


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(collecting, "_MANY", MANY)
    monkeypatch.setattr(collecting, "_blocks", count(1))
    gc.collect()
    yield
    gc.unfreeze()


def block(objects: int) -> list[list[int]]:
    with uncollected():
        assert not gc.isenabled()
        return [[] for _ in range(objects)]


@pytest.mark.usefixtures("frozen")
def test_many_new_objects_are_set_aside() -> None:
    before = gc.get_freeze_count()
    few = block(MANY // 10)
    assert gc.get_freeze_count() == before
    many = block(10 * MANY)
    assert gc.get_freeze_count() >= before + len(few) + len(many)
    assert gc.isenabled()


@pytest.mark.usefixtures("frozen")
def test_garbage_among_them_is_found_some_time() -> None:
    node = Node()
    node.other = node
    lost = weakref.ref(node)
    del node
    kept = [block(10 * MANY) for _ in range(collecting._TURNS - 1)]
    assert lost() is not None, "nobody has looked"
    kept.append(block(10 * MANY))
    assert lost() is None
