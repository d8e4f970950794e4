"""A&N Table 2: random five-way joins with the paper's windows and selectivities."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from penstock.experiments.sliding_windows.rows_join import RowsJoin

LEVELS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.01)
"""Parts of the saturation resources: what the best plan needs to keep up."""
WINDOWS = np.array([100.0, 300.0, 500.0, 400.0, 1000.0])
SELECTIVITY = {(0, 1): 0.2, (0, 2): 0.5, (1, 3): 0.1, (3, 4): 0.001}
"""Of A and B, A and C, B and D, D and E."""


def drawn(count: int, seed: int = 2004) -> Iterator[RowsJoin]:
    """Random queries: rates of 10 to 1000 tuples/s, everything else as in Table 2."""
    draw = np.random.default_rng(seed)
    for _ in range(count):
        yield RowsJoin(draw.uniform(10.0, 1000.0, 5), WINDOWS, SELECTIVITY)
