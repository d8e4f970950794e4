"""How many copies of rows stand before a place, as rows come and go: a tree of sums (Fenwick)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled

Int64s = NDArray[np.int64]


@compiled
def counted(copies: Int64s) -> Int64s:
    """The tree over so many copies at each place."""
    size = len(copies)
    tree = np.zeros(size + 1, np.int64)
    for i in range(1, size + 1):
        tree[i] += copies[i - 1]
        above = i + (i & -i)
        if above <= size:
            tree[above] += tree[i]
    return tree


@compiled
def add(tree: Int64s, place: int, copies: int) -> None:
    """Add so many copies at a place; fewer than none take some away."""
    i = place + 1
    while i < len(tree):
        tree[i] += copies
        i += i & -i


@compiled
def before(tree: Int64s, place: int) -> int:
    """The copies at the places before one."""
    i, total = place, 0
    while i > 0:
        total += tree[i]
        i -= i & -i
    return total


@compiled
def place_of(tree: Int64s, rank: int) -> int:
    """The place of the copy that so many others stand before."""
    step = 1
    while 2 * step < len(tree):
        step *= 2
    place = 0
    while step:
        if place + step < len(tree) and tree[place + step] <= rank:
            place += step
            rank -= tree[place]
        step //= 2
    return place
