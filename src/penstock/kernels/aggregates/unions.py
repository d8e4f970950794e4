"""Unions of intervals: where something is at all, however often it is there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled

Int64s = NDArray[np.int64]


@compiled
def unions(ids: Int64s, starts: Int64s, ends: Int64s) -> tuple[Int64s, Int64s, Int64s]:
    """Intervals of one id that touch as one: an interval of each, its start and its length.

    They come in the order of ids, then of starts; an interval ends before its end.
    """
    firsts = np.empty(len(ids), np.int64)
    lengths = np.empty(len(ids), np.int64)
    count = 0
    end = 0
    for i in range(len(ids)):
        if count and ids[i] == ids[firsts[count - 1]] and starts[i] <= end:
            end = max(end, ends[i])
        else:
            firsts[count] = i
            end = ends[i]
            count += 1
        lengths[count - 1] = end - starts[firsts[count - 1]]
    firsts = firsts[:count].copy()
    return firsts, starts[firsts], lengths[:count].copy()
