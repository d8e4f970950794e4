"""Count the keys with the least hashes among many: a table of few entries, filled in one pass."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled, inlined

Hashes = NDArray[np.uint64]
Counts = NDArray[np.int64]

_ONE = np.uint64(1)


@compiled
def count_keys(hashes: Hashes, highest: np.uint64, keys: Hashes, counts: Counts) -> np.uint64:
    """Count hashes up to `highest` into a table, and give the highest that it counts in the end.

    `keys` and `counts` are the table, of a size that is a power of two; empty places have a count
    of zero. When it is half full, the highest is halved and what is above it forgotten.
    """
    used = 0
    for count in counts:
        used += count > 0
    most = len(keys) // 2
    for h in hashes:
        if h <= highest:
            place = _place(h, keys, counts)
            if counts[place] == 0:
                keys[place] = h
                used += 1
            counts[place] += 1
            while used > most:
                highest = highest >> _ONE
                used = _forget_above(highest, keys, counts)
    return highest


@inlined
def _place(h: np.uint64, keys: Hashes, counts: Counts) -> np.int64:
    """Where a hash is in the table, or is to be put."""
    mask = np.int64(len(keys) - 1)
    place = np.int64(h & np.uint64(mask))
    while counts[place] != 0 and keys[place] != h:
        place = (place + np.int64(1)) & mask
    return place


@inlined
def _forget_above(highest: np.uint64, keys: Hashes, counts: Counts) -> int:
    """Keep only what is not above `highest`; how many that are."""
    old_keys, old_counts = keys.copy(), counts.copy()
    counts[:] = 0
    left = 0
    for i in range(len(old_keys)):
        if old_counts[i] > 0 and old_keys[i] <= highest:
            place = _place(old_keys[i], keys, counts)
            keys[place] = old_keys[i]
            counts[place] = old_counts[i]
            left += 1
    return left
