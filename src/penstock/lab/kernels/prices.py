"""Prices: what predicates take by themselves, beyond the work that is counted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import inlined

Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]

VISIT, LOOK = 0, 1
"""The columns of prices: for each row that comes to a join, and for each that it looks at there."""
SETTLE, PROBE = 0, 1
"""The columns of the prices of windows."""


class Prices(NamedTuple):
    """Predicates with a cost of their own: their inputs as bits, and seconds for a visit and a look
    where these come together. `joins` has the same of each join of a tree, by the side that a row
    comes from, or nothing if all are free. `windows` has of each input the seconds that its tuples
    take to settle, and those of a probe of its window, or nothing: for other plans than trees."""

    inputs: Int64s
    seconds: Floats
    joins: Floats
    windows: Floats


def no_prices() -> Prices:
    """Nothing but the work that is counted."""
    free = np.zeros((0, 2))
    return Prices(np.zeros(0, np.int64), free, np.zeros((0, 2, 2)), free)


@inlined
def price(prices: Prices, kind: int, bound: int, target: int) -> float:
    """Seconds of a visit or look at an input, of a row that has these inputs (as bits)."""
    total, both = 0.0, bound | (1 << target)
    for p in range(len(prices.inputs)):
        inputs = prices.inputs[p]
        if inputs & both == inputs and inputs & bound != inputs and inputs & bound != 0:
            total += prices.seconds[p, kind]
    return total
