"""Find the partners of many tuples at once by range search on sorted state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled, inlined

Int64s = NDArray[np.int64]

# In a group of equal keys up to this size, a scan beats a binary search.
_SCAN = 8


@compiled
def find_ranges(
    hashes: Int64s, earliest: Int64s, latest: Int64s, state_hashes: Int64s, state_times: Int64s
) -> tuple[Int64s, Int64s]:
    """For each probe, where its partners start in the state and how many there are.

    The state is sorted by (hash, time). The partners of a probe have its hash and a time from
    `earliest` to `latest`, both included. Probes in the order of their hashes are found fastest:
    each search starts where the last one ended.
    """
    n, m = len(hashes), len(state_hashes)
    starts = np.zeros(n, np.int64)
    counts = np.zeros(n, np.int64)
    group, group_end = 0, 0
    for i in range(n):
        h = hashes[i]
        if i == 0 or h != hashes[i - 1]:
            begin = group_end if i > 0 and h > hashes[i - 1] else 0
            group = _gallop(state_hashes, h, begin, m)
            group_end = group
            while group_end < m and state_hashes[group_end] == h:
                group_end += 1
        if group == group_end:
            continue
        first = _first_at_least(state_times, earliest[i], group, group_end)
        last = first
        if group_end - first <= _SCAN:
            while last < group_end and state_times[last] <= latest[i]:
                last += 1
        elif latest[i] >= earliest[i]:
            last = _first_above(state_times, latest[i], first, group_end)
        starts[i] = first
        counts[i] = last - first
    return starts, counts


@compiled
def count_between(born: Int64s, latest: Int64s, dead: Int64s, earliest: Int64s) -> int:
    """Over all i: how many of `born` are up to `latest[i]`, less those of `dead` below
    `earliest[i]`; both lists are sorted."""
    total = 0
    for i in range(len(latest)):
        total += _first_above(born, latest[i], 0, len(born))
        total -= _first_at_least(dead, earliest[i], 0, len(dead))
    return total


@compiled
def expand(
    starts: Int64s, counts: Int64s, ends: Int64s, first: int, last: int
) -> tuple[Int64s, Int64s]:
    """Pairs `first` to `last` of all the pairs of probes and partners: their two row numbers.

    `ends` is the running sum of `counts`.
    """
    probes = np.empty(last - first, np.int64)
    partners = np.empty(last - first, np.int64)
    probe = np.searchsorted(ends, first, side="right")
    out = 0
    skip = first - (ends[probe] - counts[probe]) if first < last else 0
    while out < last - first:
        for k in range(skip, counts[probe]):
            if out == last - first:
                break
            probes[out] = probe
            partners[out] = starts[probe] + k
            out += 1
        skip = 0
        probe += 1
    return probes, partners


@inlined
def _gallop(values: Int64s, target: int, begin: int, end: int) -> int:
    step = 1
    high = begin
    while high < end and values[high] < target:
        begin = high + 1
        high += step
        step *= 2
    return _first_at_least(values, target, begin, min(high, end))


@inlined
def _first_at_least(values: Int64s, target: int, begin: int, end: int) -> int:
    while begin < end:
        middle = (begin + end) >> 1
        if values[middle] < target:
            begin = middle + 1
        else:
            end = middle
    return begin


@inlined
def _first_above(values: Int64s, target: int, begin: int, end: int) -> int:
    while begin < end:
        middle = (begin + end) >> 1
        if values[middle] <= target:
            begin = middle + 1
        else:
            end = middle
    return begin
