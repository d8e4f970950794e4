"""Load the compiled kernels, so that the first batch does not wait for them."""

from __future__ import annotations

import numpy as np

from penstock.kernels import (
    classify,
    covering,
    exact_sum,
    grouping,
    hashing,
    key_counts,
    ranges,
    rows_lifetimes,
    sorting,
)


def warm_up() -> None:
    """Call every kernel of the batch engines once, on next to nothing.

    Those of estimates are left out: few queries are shed.
    """
    few = np.arange(2)
    sorting.state_order(few, few, few)
    sorting.counting_order(few, 2)
    hashing.combine([hashing.mix(few.view(np.uint64)), few])
    hashing.hash_bytes(few, np.zeros(1, np.uint8))
    words = few.view(np.uint64)
    key_counts.count_keys(words, words[1], np.zeros(2, np.uint64), np.zeros(2, np.int64))
    starts, counts = ranges.find_ranges(few, few, few, few, few)
    ranges.count_between(few, few, few, few)
    ranges.expand(starts, counts, np.cumsum(counts), 0, int(counts.sum()))
    rows_lifetimes.ends_of(few, few, 2, 1, 9)
    floats = few.astype(np.float64)
    known = np.ones(2, np.bool_)
    grouping.pair_ids(few, few)
    grouping.counts_by(few, 2, few)
    grouping.least_by(few, 2, few, known)
    exact_sum.scaled(*exact_sum.sums_by(few, 2, floats, floats), few)
    leaf = np.full(1, classify.LEAF)
    tree = classify.FlatTree(leaf, floats[:1], leaf, leaf, leaf, leaf, known)
    classify.classify(tree, floats.reshape(1, 2))
    covering.counts_over(few, few, 3, few)
    covering.sums_over(few, few, 3, floats, floats)
    covering.least_over(few, few, 3, few, known)
