"""Classify: send tuples down a decision tree, all of them in one pass."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled

Int64s = NDArray[np.int64]
Float64s = NDArray[np.float64]
Bools = NDArray[np.bool_]

LEAF = -1


class FlatTree(NamedTuple):
    """A decision tree as arrays, the root at 0.

    Node n tests the column `columns[n]`, or is a leaf if that is −1, and goes to route `routes[n]`.
    A number passes if it is at most `limits[n]`; a text, of which the column has the code, if
    `members[firsts[n] + code]` is true. `firsts[n]` is −1 where numbers are tested.
    """

    columns: Int64s
    limits: Float64s
    firsts: Int64s
    passed: Int64s
    failed: Int64s
    routes: Int64s
    members: Bools


@compiled
def classify(tree: FlatTree, values: Float64s) -> Int64s:
    """The route of each tuple. `values` has a row for each column; NaN, and so NULL, passes no
    test."""
    routes = np.empty(values.shape[1], np.int64)
    for i in range(len(routes)):
        node = 0
        while tree.columns[node] != LEAF:
            value = values[tree.columns[node], i]
            if tree.firsts[node] < 0 or np.isnan(value):
                passes = value <= tree.limits[node]
            else:
                passes = tree.members[tree.firsts[node] + int(value)]
            node = tree.passed[node] if passes else tree.failed[node]
        routes[i] = tree.routes[node]
    return routes
