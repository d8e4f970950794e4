"""Counts by key: their sum and what they have in common, beside the same by dictionaries."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.kernels.sorted_counts import Counts, Keys, add_counts, pair_counts

COUNTED = st.dictionaries(st.integers(0, 30), st.integers(1, 9), max_size=20)


def lists(counted: dict[int, int]) -> tuple[Keys, Counts]:
    keys = sorted(counted)
    return np.array(keys, np.uint64), np.array([counted[k] for k in keys], np.float64)


@given(COUNTED, COUNTED)
def test_counts_add_up_by_key(one: dict[int, int], other: dict[int, int]) -> None:
    keys, counts = add_counts(*lists(one), *lists(other))
    both = Counter(one) + Counter(other)
    assert dict(zip(keys.tolist(), counts.tolist(), strict=True)) == both
    assert keys.tolist() == sorted(both)


@given(COUNTED, COUNTED)
def test_pairs_are_those_of_common_keys(one: dict[int, int], other: dict[int, int]) -> None:
    pairs, squares, parts, common = pair_counts(*lists(one), *lists(other))
    each = {key: one[key] * other[key] for key in one.keys() & other.keys()}
    assert pairs == sum(each.values())
    assert squares == sum(n * n for n in each.values())
    assert common == len(each)
    assert parts == pytest.approx(sum(n * n * (1 / one[k] + 1 / other[k]) for k, n in each.items()))
