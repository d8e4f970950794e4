"""Sketches: what those of several inputs have in common tells how many tuples are equal."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from penstock.engine.join.key_sketches import KeyCounter
from penstock.engine.measures.sketches import (
    FEWEST,
    MOST,
    equal_fraction,
    merged,
    next_shares,
)
from penstock.engine.wire.facts import KeySketch
from penstock.kernels.hashing import mix

Int64s = NDArray[np.int64]


def sketch(alias: str, keys: Int64s, share: float = 1.0, rows: int | None = None) -> KeySketch:
    counter = KeyCounter.of(share)
    known = len(keys)
    counter.take(known if rows is None else rows, known, mix(keys.view(np.uint64)))
    return counter.sketch(alias, 0)


def truth(*inputs: Int64s) -> float:
    """The fraction of the combinations that are equal, counted over all keys."""
    keys = np.unique(np.concatenate(inputs))
    counts = [np.array([np.sum(each == key) for key in keys], np.float64) for each in inputs]
    return float(np.prod(counts, axis=0).sum() / np.prod([float(len(i)) for i in inputs]))


def keys_of(seed: int, size: int, different: int) -> Int64s:
    return np.random.default_rng(seed).integers(0, different, size)


def hashes(of: KeySketch) -> NDArray[np.uint64]:
    return np.frombuffer(of.hashes, np.uint64)


def test_few_keys_are_all_kept_and_the_fraction_is_exact() -> None:
    inputs = [keys_of(seed, 300, 50) for seed in range(3)]
    sketches = [sketch(alias, keys) for alias, keys in zip("ABC", inputs, strict=True)]
    for size in (2, 3):
        for which in combinations(range(3), size):
            found = equal_fraction([sketches[i] for i in which])
            assert found is not None
            assert found.value == pytest.approx(truth(*(inputs[i] for i in which)))
            assert found.error == 0.0


def test_a_sketch_has_the_least_hashes_and_how_often_each_came() -> None:
    keys = keys_of(1, 5_000, 3_000)
    made = sketch("A", keys)
    every, counts = np.unique(mix(keys.view(np.uint64)).view(np.uint64), return_counts=True)
    kept = hashes(made)
    assert 256 < len(kept) <= 1_024
    np.testing.assert_array_equal(kept, every[: len(kept)])
    np.testing.assert_array_equal(np.frombuffer(made.counts, np.int64), counts[: len(kept)])
    assert made.share == 2.0 ** round(np.log2(made.share))
    assert every[len(kept)] >= made.share * 2.0**64
    assert (made.rows, made.known) == (5_000, 5_000)


@pytest.mark.parametrize("tasks", [1, 4])
def test_of_many_keys_the_fraction_is_within_its_error(tasks: int) -> None:
    misses = []
    for seed in range(20):
        inputs = [keys_of(3 * seed + i, 20_000, 4_000) for i in range(3)]
        parts = [
            [sketch(alias, part) for part in np.array_split(keys, tasks)]
            for alias, keys in zip("ABC", inputs, strict=True)
        ]
        together = merged(part for mine in parts for part in mine)
        assert [each.rows for each in together.values()] == [20_000] * 3
        for which in (("A", "B"), ("A", "B", "C")):
            found = equal_fraction([together[alias, 0] for alias in which])
            assert found is not None
            assert 0.0 < found.error < 0.2 * found.value
            misses.append((found.value - 4_000.0 ** (1 - len(which))) / found.error)
    assert np.mean(np.abs(misses) < 2.5) > 0.9
    assert abs(np.mean(misses)) < 0.6


def test_sketches_of_tasks_are_those_of_all_their_tuples() -> None:
    keys = keys_of(5, 30_000, 9_000)
    parts = [sketch("A", part) for part in np.array_split(keys, 7)]
    whole, together = sketch("A", keys), merged(parts)["A", 0]
    assert whole.share <= together.share == min(part.share for part in parts)
    end = len(hashes(whole))
    np.testing.assert_array_equal(hashes(together)[:end], hashes(whole))
    assert together.counts[: 8 * end] == whole.counts


def test_a_hot_key_is_one_hash_with_its_count() -> None:
    keys = np.concatenate([np.full(50_000, 7), keys_of(2, 500, 500)])
    found = equal_fraction([sketch("A", keys), sketch("B", keys)])
    assert found is not None
    assert found.value == pytest.approx(truth(keys, keys))


def test_null_equals_nothing_but_is_among_the_combinations() -> None:
    keys = keys_of(4, 300, 10)
    found = equal_fraction([sketch("A", keys, rows=600), sketch("B", keys)])
    assert found is not None
    assert found.value == pytest.approx(truth(keys, keys) / 2)


def test_without_tuples_there_is_no_fraction() -> None:
    none = np.empty(0, np.int64)
    assert equal_fraction([sketch("A", none), sketch("B", keys_of(1, 9, 3))]) is None


def test_nothing_in_common_is_a_fraction_of_zero() -> None:
    found = equal_fraction([sketch("A", np.arange(9)), sketch("B", np.arange(9) + 100)])
    assert found is not None
    assert (found.value, found.hits) == (0.0, 0)


@pytest.mark.parametrize("different", [3, 300, 100_000])
def test_the_next_batch_keeps_about_as_many_hashes_as_are_wanted(different: int) -> None:
    share = 1.0
    for batch in range(4):
        made = sketch("A", keys_of(batch, 100_000, different), share=share)
        share = next_shares({}, [made])["A", 0]
    kept = len(hashes(sketch("A", keys_of(9, 100_000, different), share=share)))
    assert kept == different if different < FEWEST else 0.8 * FEWEST <= kept <= 1.2 * MOST


def test_a_share_grows_again_when_keys_become_few() -> None:
    share = next_shares({}, [sketch("A", keys_of(1, 10, 3), share=2.0**-12)])["A", 0]
    for batch in range(3):
        share = next_shares({}, [sketch("A", keys_of(batch, 1_000, 5), share=share)])["A", 0]
    assert share == 1.0


def test_an_input_that_is_silent_keeps_its_share() -> None:
    assert next_shares({("B", 1): 0.25}, [sketch("A", keys_of(1, 10, 3))]) == {
        ("A", 0): 1.0,
        ("B", 1): 0.25,
    }
