"""Rows that can never be among the first any more: enough others stand before them, and live on."""

from __future__ import annotations

from heapq import heappush, heapreplace

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled

Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]


@compiled
def outlived(parts: Int64s, untils: Int64s, copies: Int64s, is_there: Bools, most: int) -> Bools:
    """Of rows in their order, part after part: before which there are `most` copies of others in
    their part that are there already, and until later or as late."""
    found = np.zeros(len(parts), np.bool_)
    # The ends of the rows before that live longest, the first of these at the top.
    ends = [np.int64(0)]
    ends.pop()
    for i in range(len(parts)):
        if i > 0 and parts[i] != parts[i - 1]:
            ends.clear()
        if len(ends) == most and ends[0] >= untils[i]:
            found[i] = True
            continue
        if is_there[i]:
            for _ in range(min(copies[i], most)):
                if len(ends) < most:
                    heappush(ends, untils[i])
                elif ends[0] < untils[i]:
                    heapreplace(ends, untils[i])
                else:
                    break
    return found
