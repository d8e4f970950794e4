"""Lifetimes in ROWS windows: a tuple dies when its N-th successor arrives."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled

Int64s = NDArray[np.int64]


@compiled
def ends_of(sequence: Int64s, groups: Int64s, group_count: int, rows: int, never: int) -> Int64s:
    """For tuples in total order, the number of each one's `rows`-th successor in its group.

    `sequence` are the tuples' numbers in the total order of all streams; `never` stands for a
    successor that has not come yet.
    """
    ends = np.full(len(sequence), never)
    following = np.full(len(sequence), -1)
    victims = np.full(group_count, -1)
    for i in range(len(sequence) - 1, -1, -1):
        following[i] = victims[groups[i]]
        victims[groups[i]] = i
    seen = np.zeros(group_count, np.int64)
    for i in range(len(sequence)):
        g = groups[i]
        seen[g] += 1
        if seen[g] > rows:
            ends[victims[g]] = sequence[i]
            victims[g] = following[victims[g]]
    return ends
