"""Wide numbers against Python's: sums of values and of their squares to the last bit."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from penstock.kernels.aggregates.wide_numbers import UNIT, magnitudes, narrowed, widths
from penstock.kernels.covering import words_over
from penstock.kernels.exact_sum import Words, words_by, words_times

MOST = 1.7976931348623157e308
LEAST = 5e-324
FLOATS = (0.0, -0.0, 1.0, -1.5, 0.1, MOST, -MOST, LEAST, -LEAST, 2.0**-1022, 1e9 + 1e-7, None)
WHOLE = (0, 1, -1, 2**63 - 1, -(2**63), 3**39, None)
DECIMALS = tuple(map(Decimal, ("0.01", "-0.01", "9" * 36 + ".99", "-" + "9" * 36 + ".99")))
KINDS = {
    "floats": (FLOATS, pa.float64(), Fraction(2) ** UNIT),
    "whole": (WHOLE, pa.int64(), Fraction(1)),
    "decimals": ((*DECIMALS, None), pa.decimal128(38, 2), Fraction(100)),
}


def numbers(words: Words) -> list[int]:
    return [int.from_bytes(row.tobytes(), "little", signed=True) for row in words]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_sums_by_group_and_over_points_are_exact(kind: str, seed: int) -> None:
    values, type_, unit = KINDS[kind]
    rng = Random(f"{kind} {seed}")
    chosen: list[Any] = [rng.choice(values) for _ in range(50)]
    factors = np.array([rng.choice((1, 2, 2**62)) for _ in chosen])
    ids = np.array([rng.randrange(3) for _ in chosen])
    starts = np.array([rng.randrange(5) for _ in chosen])
    lengths = np.array([rng.randint(0, 5 - start) for start in starts])
    found = magnitudes(pa.array([None, *chosen], type_).slice(1))
    for power, width in zip((1, 2), widths(type_), strict=True):
        words = found.totals(width) if power == 1 else found.squares(width)
        exact = [int((Fraction(v or 0) * unit) ** power) for v in chosen]
        assert numbers(words) == exact
        # Each is there so often that all of them together are just below what there is room for.
        many = words_times(words, factors)
        by, over = [0] * 3, [0] * 5
        for n, value in enumerate(exact):
            by[ids[n]] += value * int(factors[n]) if factors[n] < 3 else 0
            for point in range(starts[n], starts[n] + lengths[n]):
                over[point] += value
        assert numbers(many) == [v * int(f) for v, f in zip(exact, factors, strict=True)]
        few = many * (factors < 3)[:, None].astype(np.uint64)
        assert numbers(narrowed(few, lambda some: words_by(ids, 3, some))) == by
        assert numbers(narrowed(words, lambda some: words_over(starts, lengths, 5, some))) == over


@pytest.mark.parametrize("kind", KINDS)
def test_there_is_room_for_as_many_of_the_largest_as_can_be_counted(kind: str) -> None:
    values, type_, unit = KINDS[kind]
    largest: Any = [
        max(v for v in values if v is not None),
        min(v for v in values if v is not None),
    ]
    found = magnitudes(pa.array(largest, type_))
    most = np.full(2, 2**63 - 1)
    for power, width in zip((1, 2), widths(type_), strict=True):
        words = found.totals(width) if power == 1 else found.squares(width)
        exact = [int((Fraction(v) * unit) ** power) * (2**63 - 1) for v in largest]
        assert numbers(words_times(words, most)) == exact


def test_what_is_not_finite_counts_for_nothing() -> None:
    found = magnitudes(pa.array([math.nan, math.inf, -math.inf, None]))
    for width in widths(pa.float64()):
        assert not found.totals(width).any()
        assert not found.squares(width).any()


def test_no_rows_are_nothing() -> None:
    words = magnitudes(pa.array([], pa.float64())).totals(34)
    none = np.empty(0, np.int64)
    assert numbers(narrowed(words, lambda some: words_by(none, 2, some))) == [0, 0]
