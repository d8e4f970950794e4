"""Costs of single inputs' windows at joins, beyond what every window costs (A&N Eq. 7 and 8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Masks = NDArray[np.int64]


@dataclass(frozen=True)
class Sides:
    """Seconds beyond the usual, by the set of the one input that they are of.

    `settle` is for each of its tuples that comes, and goes again, `probe` for each probe of its
    window. Inner results cost what is usual.
    """

    settle: Mapping[int, float]
    probe: Mapping[int, float]

    def arrival(self, mine: int, other: int) -> float:
        """Of each row that comes to a join from one side: it settles there and probes the other."""
        return self.settle.get(mine, 0.0) + self.probe.get(other, 0.0)

    def arrivals(self, mine: Masks, other: Masks) -> Floats:
        """The same of many joins of two sets."""
        total = np.zeros(len(mine))
        for masks, beyond in ((mine, self.settle), (other, self.probe)):
            for mask, seconds in beyond.items():
                total[masks == mask] += seconds
        return total
