"""Sketches of keys: what they say of selectivities, against the tuples themselves."""

from __future__ import annotations

from itertools import combinations
from math import isclose, prod

import numpy as np
import pytest
from numpy.typing import NDArray

from penstock.adapt.figures.distinct import values_behind
from penstock.adapt.figures.sketch import Sketch, overlaps, united
from penstock.engine.wire.facts import KeySketch
from penstock.kernels.sorted_counts import add_counts, pair_counts

Keys = NDArray[np.int64]


def hashed(keys: Keys) -> NDArray[np.uint64]:
    """A bijection that spreads keys over all 64 bits (splitmix)."""
    z = keys.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def sketch_of(keys: Keys, share: float = 1.0) -> Sketch:
    hashes, counts = np.unique(hashed(keys), return_counts=True)
    kept = hashes < np.uint64(share * 2.0**64) if share < 1.0 else np.ones(len(hashes), bool)
    fact = KeySketch(
        "a",
        0,
        len(keys),
        len(keys),
        share,
        hashes[kept].view(np.int64).tobytes(),
        counts[kept].astype(np.int64).tobytes(),
    )
    return Sketch.of(fact)


def truth(inputs: list[Keys], size: int) -> float:
    counts = [np.bincount(keys, minlength=size) for keys in inputs]
    return float(np.prod(counts, axis=0).sum()) / prod(len(keys) for keys in inputs)


@pytest.fixture
def inputs() -> dict[str, Keys]:
    rng = np.random.default_rng(3)
    return {
        "a": rng.integers(0, 5_000, 4_000),
        "b": rng.integers(0, 5_000, 9_000),
        "c": rng.integers(2_000, 4_000, 3_000),
        "d": (rng.pareto(1.5, 6_000) * 100).astype(np.int64) % 5_000,
    }


def test_whole_sketches_give_every_set_exactly(inputs: dict[str, Keys]) -> None:
    found = overlaps({alias: sketch_of(keys) for alias, keys in inputs.items()})
    assert len(found) == 11
    for size in (2, 3, 4):
        for members in combinations(inputs, size):
            overlap = found[frozenset(members)]
            wanted = truth([inputs[alias] for alias in members], 5_000)
            assert isclose(overlap.total / overlap.met, wanted, rel_tol=1e-9)


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_samples_give_pairs_within_their_error(inputs: dict[str, Keys], share: float) -> None:
    found = overlaps({alias: sketch_of(keys, share) for alias, keys in inputs.items()})
    for members in combinations(inputs, 2):
        overlap = found[frozenset(members)]
        wanted = truth([inputs[alias] for alias in members], 5_000)
        assert abs(overlap.total / overlap.met / wanted - 1.0) < 4.0 * overlap.error


def test_shares_may_differ(inputs: dict[str, Keys]) -> None:
    one, other = sketch_of(inputs["a"], 0.5), sketch_of(inputs["b"], 0.25)
    overlap = overlaps({"a": one, "b": other})[frozenset("ab")]
    wanted = truth([inputs["a"], inputs["b"]], 5_000)
    assert abs(overlap.total / overlap.met / wanted - 1.0) < 4.0 * overlap.error


def test_the_union_of_two_batches_is_the_sketch_of_both(inputs: dict[str, Keys]) -> None:
    keys = inputs["b"]
    both = united((sketch_of(keys[:4_000], 0.5), sketch_of(keys[4_000:], 0.25)), 10_000)
    whole = sketch_of(keys, 0.25)
    assert both.rows == whole.rows
    assert np.array_equal(both.hashes, whole.hashes)
    assert np.array_equal(both.counts, whole.counts)


def test_a_union_keeps_a_bounded_number_of_keys(inputs: dict[str, Keys]) -> None:
    both = united((sketch_of(inputs["a"]), sketch_of(inputs["b"])), 500)
    assert len(both.hashes) == 500
    assert 0.08 < both.share < 0.13


def test_inputs_without_a_key_in_common_overlap_in_nothing() -> None:
    one, other = np.arange(100), np.arange(200, 300)
    overlap = overlaps({"a": sketch_of(one), "b": sketch_of(other)})[frozenset("ab")]
    assert (overlap.total, overlap.keys, overlap.hits) == (0.0, 0, 0.0)
    assert overlap.met == 10_000


def test_an_input_without_tuples_overlaps_with_nobody() -> None:
    empty = np.empty(0, np.int64)
    assert overlaps({"a": sketch_of(np.arange(10)), "b": sketch_of(empty)}) == {}


def test_values_that_were_seen_tell_how_many_there_are() -> None:
    rng = np.random.default_rng(5)
    keys = rng.integers(0, 2_000, 3_000)
    found = values_behind(float(len(np.unique(keys))), 3_000.0)
    assert abs(found / 2_000 - 1.0) < 0.05


def test_loops_over_sketches_are_compiled_once(inputs: dict[str, Keys]) -> None:
    """Whether they come from a task or were made here: it would be done in the driver, in a run."""
    new, old = sketch_of(inputs["a"]), sketch_of(inputs["b"]).faded(0.5)
    overlaps({"a": new, "b": old})
    overlaps({"a": old, "b": new})
    united([new, old], 100)
    assert len(pair_counts.signatures) == 1  # type: ignore[attr-defined]
    assert len(add_counts.signatures) == 1  # type: ignore[attr-defined]
