"""Sketches are as accurate as they say, and the same however they are put together."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from penstock.engine.rows.lanes import LaneKind
from penstock.engine.rows.list_lanes import merged_lists, single_lists
from penstock.kernels.aggregates.buckets import bucket_codes, bucket_values, selected
from penstock.kernels.aggregates.registers import RANK_BITS, estimates, register_codes
from penstock.kernels.grouping import order_keys
from penstock.kernels.hashing import hash_column


def counted(values: pa.Array) -> int:
    """The estimate of how many different values there are."""
    codes = np.unique(register_codes(hash_column(values)).astype(np.int64))
    here = np.zeros(len(codes), np.int64)
    ranks = codes & ((1 << RANK_BITS) - 1)
    (found,) = estimates(codes >> RANK_BITS, ranks, here, here + 1, 1)
    return int(found)


@pytest.mark.parametrize("size", [1, 10, 100, 1_000, 5_000, 20_000, 300_000])
def test_counts_are_within_a_few_per_cent(size: int) -> None:
    """The standard error is 2.3 %; that of a mean square over 40 counts is a ninth of it."""
    errors = [
        counted(pa.array(np.arange(size) + seed * 1_000_000)) / size - 1.0 for seed in range(40)
    ]
    assert max(map(abs, errors)) < max(4 * 0.023, 1.5 / size)
    assert math.sqrt(sum(e * e for e in errors) / len(errors)) < 1.4 * 0.023
    assert abs(sum(errors) / len(errors)) < 4 * 0.023 / math.sqrt(len(errors))


def test_texts_are_counted_as_numbers_are() -> None:
    texts = pa.array([f"user {n}" for n in range(50_000)], pa.large_string())
    assert counted(texts) == pytest.approx(50_000, rel=4 * 0.023)


def test_nothing_is_no_value() -> None:
    none = np.empty(0, np.int64)
    assert estimates(none, none, none, none, 2).tolist() == [0, 0]


def quantile(values: NDArray[np.float64], rank: int) -> float:
    """The value with a rank, as buckets tell it."""
    codes, counts = np.unique(bucket_codes(order_keys(pa.array(values))), return_counts=True)
    here = np.zeros(len(codes), np.int64)
    places = np.arange(len(codes))
    (found,) = selected(here, here + 1, places, counts, np.array([rank]), len(codes))
    return float(bucket_values(codes.astype(np.int64))[found])


@pytest.mark.parametrize("scale", [1.0, -1.0, 1e-300, 1e300])
def test_quantiles_are_at_most_0_8_per_cent_nearer_to_zero(scale: float) -> None:
    values = scale * np.random.default_rng(3).lognormal(0.0, 2.0, 5_001)
    ordered = np.sort(values)
    for rank in (1, 50, 2_501, 4_990, 5_001):
        exact, found = ordered[rank - 1], quantile(values, rank)
        assert 0.0 <= 1.0 - found / exact <= 2.0**-7


def test_whole_numbers_of_eight_bits_and_what_is_no_number_are_themselves() -> None:
    own = np.array([*range(-256, 257), math.inf, -math.inf, 0.75, 2.0**-1022])
    for value in own:
        assert quantile(np.array([value]), 1) == value
    assert math.isnan(quantile(np.array([1.0, math.nan, math.inf]), 3))
    assert quantile(np.array([1.0, math.nan, math.inf]), 2) == math.inf
    assert quantile(np.array([-5e-324, 5e-324]), 1) == 0.0


@pytest.mark.parametrize("kind", [LaneKind.SET, LaneKind.REGISTERS, LaneKind.BUCKETS])
@pytest.mark.parametrize("seed", range(3))
def test_lists_are_the_same_in_whatever_order_they_are_merged(kind: LaneKind, seed: int) -> None:
    rng = Random(seed)
    drawn = [rng.choice((None, math.nan, 0.0, -0.0, *range(9), rng.random())) for _ in range(300)]
    values = pa.array(drawn, pa.float64())
    at_once = merged_lists(kind, single_lists(kind, values), np.zeros(300, np.int64), 1)
    ids = np.array([rng.randrange(5) for _ in drawn])
    parts = merged_lists(kind, single_lists(kind, values), ids, 5)
    order = rng.sample(range(5), 5)
    merged = merged_lists(kind, parts.take(pa.array(order)), np.zeros(5, np.int64), 1)
    once, twice = (sorted(map(repr, _plain(lists))) for lists in (at_once, merged))
    assert once == twice
    assert len(once) == len(set(once))


def _plain(lists: pa.Array) -> list[object]:
    (found,) = lists.to_pylist()
    return [part + 0.0 if isinstance(part, float) else part for part in found]
