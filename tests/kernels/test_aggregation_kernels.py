"""Grouping, exact sums, covering trees and segments against plain loops."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from penstock.kernels.covering import counts_over, least_over, sums_over
from penstock.kernels.exact_sum import as_pairs, scaled, sums_by
from penstock.kernels.grouping import counts_by, least_by, number_groups, order_keys
from penstock.kernels.sorting import counting_order

TEXT = pa.large_string()


def test_equal_rows_are_one_group() -> None:
    x = pa.array([0.0, -0.0, math.nan, -math.nan, None, None, 1.0])
    s = pa.array(["", "", "a", "a", None, "", None], TEXT)
    ids, firsts = number_groups([x, s], 7)
    assert ids.tolist() == [0, 0, 1, 1, 2, 3, 4]
    assert firsts.tolist() == [0, 2, 4, 5, 6]
    assert number_groups([], 3)[0].tolist() == [0, 0, 0]
    assert [len(part) for part in number_groups([], 0)] == [0, 0]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([-math.inf, -1.5, -0.0, 1e-300, 2.0, math.inf, math.nan]),
        pa.array([-(1 << 63), -1, 0, (1 << 63) - 1]),
        pa.array(["", "A", "a", "aa", "b", "é", "\U0001f600"], TEXT),
        pa.array([False, True]),
        pa.array([-5, 3], pa.date32()),
        pa.array([-5, 3], pa.timestamp("us", tz="UTC")),
    ],
    ids=lambda values: str(values.type),
)
def test_keys_are_in_the_order_of_values(values: pa.Array) -> None:
    keys = order_keys(values)
    assert all(keys[:-1] < keys[1:])


def test_groups_are_counted_and_have_their_least() -> None:
    rng = np.random.default_rng(1)
    ids, keys = rng.integers(0, 9, 200), rng.integers(-50, 50, 200)
    known = rng.random(200) < 0.5
    known[ids == 3] = False
    least = least_by(ids, 9, keys, known)
    for group in range(9):
        mine = keys[(ids == group) & known]
        assert (least[group] < 0) if not len(mine) else keys[least[group]] == mine.min()
        assert counts_by(ids, 9, keys)[group] == keys[ids == group].sum()


def test_sums_are_rounded_once() -> None:
    rng = np.random.default_rng(2)
    values = (rng.random(5000) - 0.5) * 10.0 ** rng.integers(-9, 9, 5000)
    ids = rng.integers(0, 5, 5000)
    high, _ = sums_by(ids, 5, values, np.zeros(5000))
    assert high.tolist() == [math.fsum(values[ids == group]) for group in range(5)]


def test_whole_numbers_and_their_multiples_are_exact() -> None:
    values = np.array([(1 << 63) - 1, -(1 << 63), 5, -7, 1 << 53, (1 << 53) + 1])
    factors = np.array([3, 1_000_001, 0, 7, 9, 11])
    high, low = scaled(*as_pairs(values), factors)
    found = [int(a) + int(b) for a, b in zip(high, low, strict=True)]
    assert found == [v * f for v, f in zip(values.tolist(), factors.tolist(), strict=True)]


def test_multiples_of_sums_keep_their_errors() -> None:
    values = np.full(10, 0.1)
    pair = sums_by(np.zeros(10, np.int64), 1, values, np.zeros(10))
    high, low = scaled(*pair, np.array([12_345]))
    exact = Fraction(0.1) * 10 * 12_345
    assert abs(Fraction(high[0]) + Fraction(low[0]) - exact) < exact / 2**100


def test_infinities_and_nan_are_what_they_are() -> None:
    values = np.array([math.inf, 1.0, math.inf, -math.inf, math.nan, 1.0])
    high, low = sums_by(np.array([0, 0, 1, 1, 2, 2]), 3, values, np.zeros(6))
    assert high[0] == math.inf
    assert np.isnan(high[1:]).all()
    assert not low.any()
    assert scaled(high, low, np.array([2, 2, 2]))[0][0] == math.inf


@pytest.mark.parametrize("points", [1, 2, 3, 8, 37])
def test_points_see_what_covers_them(points: int) -> None:
    rng = np.random.default_rng(points)
    starts = rng.integers(0, points, 40)
    lengths = np.array([rng.integers(0, points - start + 1) for start in starts])
    values, known = rng.integers(-9, 9, 40), rng.random(40) < 0.5
    counts = counts_over(starts, lengths, points, values)
    sums, _ = sums_over(starts, lengths, points, values / 8, np.zeros(40))
    least = least_over(starts, lengths, points, values, known)
    for point in range(points):
        over = (starts <= point) & (point < starts + lengths)
        assert counts[point] == values[over].sum()
        assert sums[point] == values[over].sum() / 8
        best = values[over & known]
        assert (least[point] < 0) if not len(best) else values[least[point]] == best.min()


@pytest.mark.parametrize("size", [0, 1, 500])
def test_whole_numbers_are_ordered_by_counting(size: int) -> None:
    numbers = np.random.default_rng(size).integers(0, 7, size)
    assert counting_order(numbers, 7).tolist() == np.argsort(numbers, kind="stable").tolist()
