"""The book of sketches: what counts of batches that are sketched, and of those that are not."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from penstock.adapt.figures.sketch_book import SketchBook
from penstock.adapt.settings import DEFAULT_SETTINGS
from penstock.cql import parse
from penstock.engine.wire.facts import KeySketch
from penstock.query.keys import key_classes
from penstock.stats.statistics import Group

TEXT = """
CREATE STREAM A (ts BIGINT, k BIGINT) WITH (format='csv', path='a', timestamp='ts', unit='s');
CREATE STREAM B (ts BIGINT, k BIGINT) WITH (format='csv', path='b', timestamp='ts', unit='s');
SELECT A.k FROM A [RANGE 9 SECONDS], B [RANGE 9 SECONDS] WHERE A.k = B.k
"""
PAIR = Group(0, (0,), frozenset("AB"))


def book() -> SketchBook:
    return SketchBook(key_classes(parse(TEXT)), DEFAULT_SETTINGS)


def sketches(*keys: int) -> list[KeySketch]:
    """Both inputs bring every key once."""
    hashes = np.array(sorted(keys), np.uint64)
    counts = np.ones(len(keys), np.int64)
    return [
        KeySketch(alias, 0, len(keys), len(keys), 1.0, hashes.tobytes(), counts.tobytes())
        for alias in "AB"
    ]


def compared(found: SketchBook, batches: Iterable[list[KeySketch]]) -> list[bool]:
    return [bool(found.take(facts, 1.0)) for facts in batches]


def test_while_all_are_sketched_some_batches_are_compared_together() -> None:
    assert compared(book(), [sketches(1, 2)] * 4) == [False, True, False, True]


def test_where_some_are_each_is_compared() -> None:
    found = book()
    batches = [sketches(1), [], sketches(1), sketches(1), [], [], sketches(1)]
    assert compared(found, batches) == [False, False, True, True, False, False, True]


def test_time_passes_in_batches_without_sketches() -> None:
    one, other = book(), book()
    for facts in (sketches(1), [], [], sketches(2)):
        one.take(facts, 0.5)
    other.take(sketches(1), 0.5)
    other.take(sketches(2), 0.125)
    for found in (one, other):
        assert found.sums()["A", 0].rows == pytest.approx(1.125)


def test_a_restart_keeps_the_latest_comparisons_and_tells_their_batches() -> None:
    found = book()
    for facts in (sketches(1), [], sketches(2), [], [], sketches(3)):
        found.take(facts, 1.0)
    assert found.restart(PAIR, 1) == 1
    assert found.sums()["A", 0].rows == 1.0
    # The first of two batches that were compared together may be one of before the change.
    assert found.restart(PAIR, 2) == 4
    assert found.sums()["A", 0].rows == 2.0


def test_a_key_that_came_twice_is_remembered() -> None:
    found = book()
    found.take(sketches(1, 2), 0.5)
    found.take(sketches(3), 0.5)
    assert found.repeated() == frozenset()
    found.take([], 0.5)
    found.take(sketches(2), 0.5)
    assert found.repeated() == {("A", 0), ("B", 0)}
    for key in range(4, 20):
        found.take(sketches(key), 0.5)
    assert found.repeated() == {("A", 0), ("B", 0)}
