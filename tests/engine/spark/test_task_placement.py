"""Which executor each task prefers, from batch to batch."""

from __future__ import annotations

from collections import Counter

from penstock.engine.spark.placement import settled

TWO = {"a": 1, "b": 1}


def test_tasks_are_dealt_by_cores_and_stay() -> None:
    first = settled((), 6, TWO)
    assert Counter(first) == {"a": 3, "b": 3}
    assert settled(first, 6, TWO) == first
    assert Counter(settled((), 6, {"a": 1, "b": 2})) == {"a": 2, "b": 4}
    assert settled((), 6, {}) == ()


def test_only_the_tasks_of_an_executor_that_is_gone_move() -> None:
    before = settled((), 12, {"a": 1, "b": 1, "c": 1})
    after = settled(before, 12, TWO)
    assert all(new == old for old, new in zip(before, after, strict=True) if old != "c")
    assert Counter(after) == {"a": 6, "b": 6}


def test_one_that_comes_gets_its_share_and_no_other_task_moves() -> None:
    before = settled((), 12, TWO)
    after = settled(before, 12, {**TWO, "c": 1})
    assert Counter(after) == {"a": 4, "b": 4, "c": 4}
    assert all(new in (old, "c") for old, new in zip(before, after, strict=True))
