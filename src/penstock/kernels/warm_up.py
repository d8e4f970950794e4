"""Load the compiled kernels, so that the first batch does not wait for them."""

from __future__ import annotations

import numpy as np

from penstock.kernels import hashing, ranges, rows, sorting


def warm_up() -> None:
    """Call every kernel of the batch engines once, on next to nothing."""
    few = np.arange(2)
    sorting.state_order(few, few, few)
    hashing.combine([hashing.mix(few.view(np.uint64)), few])
    hashing.hash_bytes(few, np.zeros(1, np.uint8))
    starts, counts = ranges.find_ranges(few, few, few, few, few)
    ranges.expand(starts, counts, np.cumsum(counts), 0, int(counts.sum()))
    rows.ends_of(few, few, 2, 1, 9)
