"""Give the tuples of all streams their routes, a window of each at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import uncounted

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]


class Trees(NamedTuple):
    """The trees of all inputs, side by side.

    Input s has its root at `roots[s]` (−1: it has no tree) and leaves at most `depths[s]` below. A
    node tests `columns[n]` for a number of at most `limits[n]` or, where `firsts[n]` is above 0,
    for a code that has `members[firsts[n] + code]`, and goes to `nexts[n, 1]` if it passes, else to
    `nexts[n, 0]`; a leaf to itself. `members[0]` is not of any node.
    """

    roots: Int64s
    depths: Int64s
    columns: Int64s
    limits: Floats
    firsts: Int64s
    nexts: Int64s
    routes: Int32s
    members: NDArray[np.bool_]


@uncounted
def classify_next(
    trees: Trees, values: Floats, arrivals: Int64s, coming: Int64s, routes: Int32s
) -> None:
    """Write down the routes of the rows that arrive next; `coming[s]` is the next row of input s.

    One call is for all inputs: on a cold cache, it takes as long as hundreds of tuples. Every tuple
    goes as deep as its tree does, passed or not: a processor's guess at its way is often wrong. And
    numbers without a sign are never taken to count from the end, which halves the time.
    """
    columns, limits, nexts, members = trees.columns, trees.limits, trees.nexts, trees.members
    for s in arrivals:
        if s < 0 or trees.roots[s] < 0:
            continue
        row, node = np.uint64(coming[s]), np.uint64(trees.roots[s])
        coming[s] += 1
        for _ in range(trees.depths[s]):
            value, first = values[np.uint64(columns[node]), row], trees.firsts[node]
            if first == 0:
                passes = value <= limits[node]
            else:
                passes = members[first + np.int64(value)] if value >= 0.0 else False
            node = np.uint64(nexts[node, np.uint64(passes)])
        routes[row] = trees.routes[node]
