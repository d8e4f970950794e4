"""Buckets: numbers by their sign, their exponent and the first bits of their mantissa.

A histogram of such buckets tells quantiles to a fixed relative error, as DDSketch does (Masson, Rim
and Lee, 2019), and histograms are merged by adding them up, so that no order shows. Cut out of a
float's bits a bucket needs no logarithm, of which no two machines need agree on the last digit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled

Int64s = NDArray[np.int64]
Int32s = NDArray[np.int32]
Floats = NDArray[np.float64]

KEPT_BITS = 7
"""Bits of the mantissa: a number is at most 2⁻⁷, 0.8 %, above the least of its bucket."""

_CUT = 52 - KEPT_BITS
_INFINITE = np.int64(0x7FF0_0000_0000_0000) >> _CUT


def bucket_codes(keys: Int64s) -> Int32s:
    """The bucket of each number by its `order_keys`; buckets are in the order of numbers."""
    codes: Int32s = (np.sign(keys) * (np.abs(keys) >> _CUT)).astype(np.int32)
    return codes


def bucket_values(codes: Int64s) -> Floats:
    """The number of each bucket that is nearest to zero; infinities and NaN are themselves."""
    sizes = np.abs(codes)
    bits = np.where(sizes > _INFINITE, np.int64(0x7FF8_0000_0000_0000), sizes << _CUT)
    return np.copysign(bits.view(np.float64), codes)


@compiled
def selected(
    starts: Int64s, ends: Int64s, places: Int64s, counts: Int64s, ranks: Int64s, most: int
) -> Int64s:
    """For each point the place of the value with a rank, from 1 on, among those over it; else −1.

    Interval i has `counts[i]` values at `places[i]`, of which there are `most`. They are counted in
    a Fenwick tree from point to point: whole numbers come and go without a trace.
    """
    size = 1
    while size < most + 1:
        size *= 2
    tree = np.zeros(size + 1, np.int64)
    coming, going = np.argsort(starts), np.argsort(ends)
    out = np.full(len(ranks), -1)
    i, j = 0, 0
    for point in range(len(ranks)):
        while i < len(starts) and starts[coming[i]] <= point:
            _add(tree, places[coming[i]], counts[coming[i]])
            i += 1
        while j < len(ends) and ends[going[j]] <= point:
            _add(tree, places[going[j]], -counts[going[j]])
            j += 1
        if ranks[point] > 0:
            place, left, step = 0, ranks[point], size
            while step > 0:
                if place + step <= size and tree[place + step] < left:
                    place += step
                    left -= tree[place]
                step //= 2
            out[point] = place
    return out


@compiled
def _add(tree: Int64s, place: int, count: int) -> None:
    node = place + 1
    while node < len(tree):
        tree[node] += count
        node += node & -node
