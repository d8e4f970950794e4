"""Waiting: how many rows are at a join for each one that is served there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled, inlined

Int64s = NDArray[np.int64]


@compiled
def waiting(keys: Int64s, sides: Int64s, births: Int64s, deaths: Int64s) -> Int64s:
    """For rows in the order of service: how many of the other side (0 or 1) and the same key were
    served before each one and are alive at its birth."""
    found = np.zeros(len(keys), np.int64)
    by_key = np.argsort(keys, kind="mergesort")
    first = 0
    while first < len(keys):
        end = first + 1
        while end < len(keys) and keys[by_key[end]] == keys[by_key[first]]:
            end += 1
        _count(by_key[first:end], sides, births, deaths, found)
        first = end
    return found


@compiled
def _count(rows: Int64s, sides: Int64s, births: Int64s, deaths: Int64s, found: Int64s) -> None:
    """The same for the rows of one key, with the deaths so far of each side in a Fenwick tree."""
    own = deaths[rows]
    by_death = np.argsort(own, kind="mergesort")
    ranks = np.empty(len(rows), np.int64)
    ranks[by_death] = np.arange(len(rows))
    dead_by = np.searchsorted(own[by_death], births[rows], side="right")
    sums = np.zeros((2, len(rows) + 1), np.int64)
    served = np.zeros(2, np.int64)
    for i in range(len(rows)):
        side = sides[rows[i]]
        found[rows[i]] = served[1 - side] - _sum_below(sums[1 - side], dead_by[i])
        served[side] += 1
        _add_one(sums[side], ranks[i])


@inlined
def _sum_below(sums: Int64s, end: int) -> int:
    total = 0
    while end > 0:
        total += sums[end]
        end -= end & -end
    return total


@inlined
def _add_one(sums: Int64s, rank: int) -> None:
    place = rank + 1
    while place < len(sums):
        sums[place] += 1
        place += place & -place
