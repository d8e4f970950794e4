"""The cost of a query mesh: routes, classification, and an overhead for every route (QM §4.5)."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def partitions(tuples: int) -> int:
    """In how many ways training tuples can be parted: the Bell number (QM Eq. 1)."""
    numbers = [1]
    for n in range(tuples):
        numbers.append(sum(comb(n, k) * number for k, number in enumerate(numbers)))
    return numbers[tuples]


def route_costs(yields: Floats, route: Sequence[int], enter: Floats, leave: Floats) -> Floats:
    """Seconds that each tuple (a row of `yields`) takes on a route: c(r_q) of QM §4.5.

    An operator takes `enter` for every row that goes in and `leave` for every one that comes out,
    and makes of each row as many as the tuple's yield says.
    """
    steps = list(route)
    after = np.cumprod(yields[:, steps], axis=1)
    before = np.hstack((np.ones((len(yields), 1)), after[:, :-1]))
    seconds: Floats = before @ enter[steps] + after @ leave[steps]
    return seconds


def mesh_cost(
    fractions: Floats, on_route: Floats, in_tree: Floats, routes: int, overhead: float
) -> float:
    """Seconds a tuple of a whole mesh (QM Eq. 2).

    Each fraction of the tuples takes `on_route` seconds on its route, c(r_q), and `in_tree` seconds
    in the decision tree, c(DT|r_q). `overhead` is OVH.
    """
    return float(fractions @ (on_route + in_tree)) + routes * overhead
