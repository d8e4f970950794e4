"""Covering: reduce the values of all intervals over each point, in a tree of intervals.

An interval over many points is added to the few nodes of the tree that make it up, and a point
reads the nodes above it. So nothing has to be taken out where an interval ends: sums do not drift,
and the least value is found without looking at a window again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled
from penstock.kernels.exact_sum import (
    Floats,
    Pairs,
    Words,
    add_pairs,
    add_row,
    add_words,
)

Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]


@compiled
def counts_over(starts: Int64s, lengths: Int64s, points: int, counts: Int64s) -> Int64s:
    """For each point, the sum of the counts of the intervals over it.

    Interval i covers the points from `starts[i]` on, `lengths[i]` of them.
    """
    tree = np.zeros(2 * points, np.int64)
    for i in range(len(starts)):
        left, right = starts[i] + points, starts[i] + lengths[i] + points
        while left < right:
            if left & 1:
                tree[left] += counts[i]
                left += 1
            if right & 1:
                right -= 1
                tree[right] += counts[i]
            left >>= 1
            right >>= 1
    for node in range(2, 2 * points):
        tree[node] += tree[node >> 1]
    return tree[points:]


@compiled
def sums_over(starts: Int64s, lengths: Int64s, points: int, high: Floats, low: Floats) -> Pairs:
    """The same for exact sums."""
    highs, lows = np.zeros(2 * points), np.zeros(2 * points)
    for i in range(len(starts)):
        left, right = starts[i] + points, starts[i] + lengths[i] + points
        while left < right:
            if left & 1:
                highs[left], lows[left] = add_pairs(highs[left], lows[left], high[i], low[i])
                left += 1
            if right & 1:
                right -= 1
                highs[right], lows[right] = add_pairs(highs[right], lows[right], high[i], low[i])
            left >>= 1
            right >>= 1
    for n in range(2, 2 * points):
        highs[n], lows[n] = add_pairs(highs[n], lows[n], highs[n >> 1], lows[n >> 1])
    return highs[points:], lows[points:]


@compiled
def words_over(starts: Int64s, lengths: Int64s, points: int, words: Words) -> Words:
    """The same for exact sums in words."""
    tree = np.zeros((2 * points, words.shape[1]), np.uint64)
    for i in range(len(starts)):
        left, right = starts[i] + points, starts[i] + lengths[i] + points
        while left < right:
            if left & 1:
                add_words(tree[left], words[i])
                left += 1
            if right & 1:
                right -= 1
                add_words(tree[right], words[i])
            left >>= 1
            right >>= 1
    for node in range(2, 2 * points):
        add_words(tree[node], tree[node >> 1])
    return tree[points:]


@compiled
def least_over(starts: Int64s, lengths: Int64s, points: int, keys: Int64s, known: Bools) -> Int64s:
    """For each point, the interval over it with the least key; −1 if none is known."""
    tree = np.full(2 * points, -1)
    for i in range(len(starts)):
        if not known[i]:
            continue
        left, right = starts[i] + points, starts[i] + lengths[i] + points
        while left < right:
            if left & 1:
                if tree[left] < 0 or keys[i] < keys[tree[left]]:
                    tree[left] = i
                left += 1
            if right & 1:
                right -= 1
                if tree[right] < 0 or keys[i] < keys[tree[right]]:
                    tree[right] = i
            left >>= 1
            right >>= 1
    for node in range(2, 2 * points):
        above = tree[node >> 1]
        if above >= 0 and (tree[node] < 0 or keys[above] < keys[tree[node]]):
            tree[node] = above
    return tree[points:]


@compiled
def rows_over(starts: Int64s, lengths: Int64s, points: int, rows: Floats) -> Floats:
    """For each point, the sum of the rows of the intervals over it, column by column.

    The first two columns are an exact sum.
    """
    tree = np.zeros((2 * points, rows.shape[1]))
    for i in range(len(starts)):
        left, right = starts[i] + points, starts[i] + lengths[i] + points
        while left < right:
            if left & 1:
                add_row(tree[left], rows[i])
                left += 1
            if right & 1:
                right -= 1
                add_row(tree[right], rows[i])
            left >>= 1
            right >>= 1
    for node in range(2, 2 * points):
        add_row(tree[node], tree[node >> 1])
    return tree[points:]


@compiled
def bits_over(starts: Int64s, lengths: Int64s, points: int, bits: Int64s) -> Int64s:
    """For each point, the bits that any interval over it has."""
    tree = np.zeros(2 * points, np.int64)
    for i in range(len(starts)):
        left, right = starts[i] + points, starts[i] + lengths[i] + points
        while left < right:
            if left & 1:
                tree[left] |= bits[i]
                left += 1
            if right & 1:
                right -= 1
                tree[right] |= bits[i]
            left >>= 1
            right >>= 1
    for node in range(2, 2 * points):
        tree[node] |= tree[node >> 1]
    return tree[points:]
