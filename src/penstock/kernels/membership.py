"""Which hashes are among some others, by a table of these."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled

Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]


@compiled
def among(hashes: Int64s, wanted: Int64s) -> Bools:
    """Whether each hash is one of the wanted ones; being hashes, they spread over a table."""
    found = np.zeros(len(hashes), np.bool_)
    if not len(wanted):
        return found
    size = 2
    while size < 2 * len(wanted):
        size *= 2
    table, taken = np.zeros(size, np.int64), np.zeros(size, np.bool_)
    for each in wanted:
        at = each & (size - 1)
        while taken[at] and table[at] != each:
            at = (at + 1) & (size - 1)
        table[at], taken[at] = each, True
    for i in range(len(hashes)):
        at = hashes[i] & (size - 1)
        while taken[at] and table[at] != hashes[i]:
            at = (at + 1) & (size - 1)
        found[i] = taken[at]
    return found
