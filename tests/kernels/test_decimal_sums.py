"""Sums of 256 bits against Python's whole numbers."""

from __future__ import annotations

from decimal import Decimal
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from penstock.kernels.covering import words_over
from penstock.kernels.exact_sum import as_words, from_words, words_by, words_times


def drawn(rng: Random, count: int) -> list[int | None]:
    """Whole numbers of any size and sign, with carries at every word, and NULLs."""
    ends = [None, 0, 1, -1, 2**64 - 1, -(2**64), 2**63, 10**38 - 1, 1 - 10**38]
    return [rng.choice((*ends, rng.randint(-(10**38), 10**38) // 3)) for _ in range(count)]


def column(numbers: list[int | None]) -> pa.Array:
    """The numbers as DECIMALs, behind a row that is cut off."""
    exact = [None if n is None else Decimal(n) for n in (7, *numbers)]
    return pa.array(exact, pa.decimal128(38, 0)).slice(1)


def as_numbers(decimals: pa.Array) -> list[int]:
    return [int(value) for value in decimals.to_pylist()]


@pytest.mark.parametrize("seed", range(5))
def test_sums_by_group_and_over_points_are_exact(seed: int) -> None:
    rng = Random(seed)
    numbers = drawn(rng, 40)
    words = as_words(column(numbers))
    ids = np.array([rng.randrange(4) for _ in numbers])
    starts = np.array([rng.randrange(6) for _ in numbers])
    lengths = np.array([rng.randint(0, 6 - start) for start in starts])
    by_group, over = [0] * 4, [0] * 6
    for n, group, start, length in zip(numbers, ids, starts, lengths, strict=True):
        by_group[group] += n or 0
        for point in range(start, start + length):
            over[point] += n or 0
    assert as_numbers(from_words(words_by(ids, 4, words), 0)) == by_group
    assert as_numbers(from_words(words_over(starts, lengths, 6, words), 0)) == over


def test_products_with_counts_are_exact() -> None:
    numbers = drawn(Random("times"), 60)
    factors = np.array([Random(n).choice((0, 1, 2, 2**32, 2**63 - 1)) for n in range(60)])
    found = as_numbers(from_words(words_times(as_words(column(numbers)), factors), 0))
    assert found == [(n or 0) * int(k) for n, k in zip(numbers, factors, strict=True)]
