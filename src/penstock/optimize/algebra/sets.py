"""Figures of sets of inputs, worked out one by one where a table of all sets would be too large."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, eq=False)
class Computed:
    """A figure of each set, by its mask: found when it is first asked for, and kept."""

    of: Callable[[int], float]
    found: dict[int, np.float64] = field(default_factory=dict)

    def __getitem__(self, mask: int) -> np.float64:
        figure = self.found.get(mask)
        if figure is None:
            figure = self.found[mask] = np.float64(self.of(mask))
        return figure
