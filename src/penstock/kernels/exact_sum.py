"""Sums that neither drift nor overflow: pairs of floats, a sum and the error that it leaves out.

A pair holds about 106 bits, so whole numbers below 2¹⁰⁵ are exact, and sums of floats are rounded
once, when they are read. Nothing is ever subtracted.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled, inlined

Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]
Pairs = tuple[Floats, Floats]

_LOW = (1 << 32) - 1
# Splits a float into two halves of 26 bits (Dekker, "A floating-point technique", 1971).
_SPLITTER = float((1 << 27) + 1)


def as_pairs(values: Int64s) -> Pairs:
    """Whole numbers as pairs, exactly."""
    low = values & _LOW
    return (values - low).astype(np.float64), low.astype(np.float64)


@inlined
def add_pairs(high: float, low: float, more: float, less: float) -> tuple[float, float]:
    """The sum of two pairs."""
    total = high + more
    if not math.isfinite(total):
        return total, 0.0
    part = total - high
    error = (high - (total - part)) + (more - part) + (low + less)
    exact = total + error
    part = exact - total
    return exact, (total - (exact - part)) + (error - part)


@inlined
def add_row(total: Floats, row: Floats) -> None:
    """Add a row of numbers to another, in place; the first two are a pair."""
    total[0], total[1] = add_pairs(total[0], total[1], row[0], row[1])
    for j in range(2, len(row)):
        total[j] += row[j]


@inlined
def _times(high: float, low: float, factor: float) -> tuple[float, float]:
    product = high * factor
    # Beyond this the split overflows; so large a number has no error to speak of.
    if not abs(high) < 1e290 or not math.isfinite(product):
        return product, 0.0
    big = _SPLITTER * high
    one = big - (big - high)
    two = high - one
    big = _SPLITTER * factor
    three = big - (big - factor)
    four = factor - three
    error = ((one * three - product) + one * four + two * three) + two * four
    return product, error + low * factor


@compiled
def scaled(high: Floats, low: Floats, factors: Int64s) -> Pairs:
    """Pairs times whole numbers."""
    highs, lows = np.empty(len(high)), np.empty(len(high))
    for i in range(len(high)):
        highs[i], lows[i] = _times(high[i], low[i], float(factors[i]))
    return highs, lows


@compiled
def sums_by(ids: Int64s, groups: int, high: Floats, low: Floats) -> Pairs:
    """The sum of each group, numbered from 0 to `groups` − 1."""
    highs, lows = np.zeros(groups), np.zeros(groups)
    for i in range(len(ids)):
        g = ids[i]
        highs[g], lows[g] = add_pairs(highs[g], lows[g], high[i], low[i])
    return highs, lows
