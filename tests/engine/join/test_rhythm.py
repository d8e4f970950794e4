"""The rhythm of measuring: nothing is left out for long, and no rhythm of streams is met."""

from __future__ import annotations

from penstock.engine.join.rhythm import sketches_keys, tells_reach


def test_the_first_batches_measure_all() -> None:
    assert all(sketches_keys(number) and tells_reach(number) for number in range(8))


def test_later_ones_take_turns() -> None:
    for number in range(8, 1_000, 2):
        pair = (number, number + 1)
        assert sorted(sketches_keys(n) for n in pair) == [False, True]
        assert all(sketches_keys(n) != tells_reach(n) for n in pair)


def test_turns_do_not_alternate() -> None:
    even = [sketches_keys(number) for number in range(8, 1_008, 2)]
    assert 200 < sum(even) < 300
