"""Counts by key, as two sorted lists of different keys: their sum, and what they have in common."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled

Keys = NDArray[np.uint64]
Counts = NDArray[np.float64]


@compiled
def add_counts(keys: Keys, counts: Counts, others: Keys, more: Counts) -> tuple[Keys, Counts]:
    """The keys of both lists, sorted, each with its counts added up."""
    all_keys = np.empty(len(keys) + len(others), np.uint64)
    total = np.empty(len(keys) + len(others), np.float64)
    i = j = n = 0
    while i < len(keys) or j < len(others):
        if j == len(others) or (i < len(keys) and keys[i] < others[j]):
            all_keys[n], total[n] = keys[i], counts[i]
            i += 1
        elif i == len(keys) or others[j] < keys[i]:
            all_keys[n], total[n] = others[j], more[j]
            j += 1
        else:
            all_keys[n], total[n] = keys[i], counts[i] + more[j]
            i += 1
            j += 1
        n += 1
    return all_keys[:n].copy(), total[:n].copy()


@compiled
def pair_counts(
    keys: Keys, counts: Counts, others: Keys, more: Counts
) -> tuple[float, float, float, int]:
    """Over the keys of both lists, with pairs the product of their counts: the pairs, their
    squares, the squares by the count of either side added up, and how many keys these are."""
    pairs = squares = parts = 0.0
    common = i = j = 0
    while i < len(keys) and j < len(others):
        if keys[i] < others[j]:
            i += 1
        elif others[j] < keys[i]:
            j += 1
        else:
            each = counts[i] * more[j]
            pairs += each
            squares += each * each
            parts += each * each * (1.0 / counts[i] + 1.0 / more[j])
            common += 1
            i += 1
            j += 1
    return pairs, squares, parts, common
