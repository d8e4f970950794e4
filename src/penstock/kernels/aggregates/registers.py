"""Registers: how many different values there are, told by the rarest hashes among them.

HyperLogLog (Flajolet, Fusy, Gandouet and Meunier, 2007): the first bits of a value's hash choose
one of 2,048 registers, which holds the largest rank, the place of the first 1 among the other bits,
of all its values. Registers are merged by their maximum, so that neither the order nor how often a
value comes changes anything; libraries of such sketches also have estimators that depend on the
order. The estimate is Ertl's ("New cardinality estimation algorithms for HyperLogLog sketches",
2017, Algorithm 6), which is unbiased for few values and for many, and needs no tables.

A register that holds something is one number, `register·64 + rank`; the others are left out.
"""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled

Int64s = NDArray[np.int64]
Int32s = NDArray[np.int32]
Floats = NDArray[np.float64]

INDEX_BITS = 11
COUNT = 1 << INDEX_BITS
"""Registers; the standard error of an estimate is 1.04 / √2048, which is 2.3 %."""

MOST_RANK = 64 - INDEX_BITS + 1
RANK_BITS = 6

_ONE = np.uint64(1)
_REST = np.uint64(64 - INDEX_BITS)


@compiled
def register_codes(hashes: Int64s) -> Int32s:
    """The register and the rank of each hash."""
    out = np.empty(len(hashes), np.int32)
    for i in range(len(hashes)):
        bits = np.uint64(hashes[i])
        rank = 1
        place = _REST
        while place > np.uint64(0) and not (bits >> (place - _ONE)) & _ONE:
            rank += 1
            place -= _ONE
        out[i] = (np.int64(bits >> _REST) << RANK_BITS) | rank
    return out


@compiled
def reached(
    registers: Int64s, ranks: Int64s, starts: Int64s, ends: Int64s, points: int, rank: int
) -> Int64s:
    """For each point, the registers of which an interval over it has at least some rank.

    Intervals come in the order of registers, then of starts.
    """
    changes = np.zeros(points + 1, np.int64)
    register, end = np.int64(-1), np.int64(0)
    for i in range(len(registers)):
        if ranks[i] < rank:
            continue
        if registers[i] != register:
            register, end = registers[i], np.int64(0)
        start = max(starts[i], end)
        if ends[i] > start:
            changes[start] += 1
            changes[ends[i]] -= 1
            end = ends[i]
    return np.cumsum(changes)[:points]


def estimates(
    registers: Int64s, ranks: Int64s, starts: Int64s, ends: Int64s, points: int
) -> Int64s:
    """How many different values there are over each point."""
    order = np.lexsort((starts, registers))
    sorted_ = registers[order], ranks[order], starts[order], ends[order]
    above = reached(*sorted_, points, MOST_RANK)
    weight = COUNT * _tau(1.0 - above / COUNT)
    for rank in range(MOST_RANK - 1, 0, -1):
        here = reached(*sorted_, points, rank)
        weight = 0.5 * (weight + (here - above))
        above = here
    empty = (COUNT - above) / COUNT
    weight = weight + COUNT * _sigma(empty)
    return np.rint(COUNT * COUNT / (2.0 * log(2.0)) / weight).astype(np.int64)


def _sigma(share: Floats) -> Floats:
    """Ertl's σ: what registers without a value stand for; infinite where all are so."""
    is_all = share >= 1.0
    x = np.where(is_all, 0.0, share)
    y, z, before = 1.0, x, np.full_like(x, -1.0)
    while (z != before).any():
        x, before = x * x, z
        z = z + x * y
        y = y + y
    return np.where(is_all, np.inf, z)


def _tau(share: Floats) -> Floats:
    """Ertl's τ: what registers that can hold no more stand for."""
    x, y, z = share, 1.0, 1.0 - share
    before = np.full_like(z, -1.0)
    while (z != before).any():
        x, before, y = np.sqrt(x), z, 0.5 * y
        z = z - (1.0 - x) ** 2 * y
    return np.where((share == 0.0) | (share == 1.0), 0.0, z / 3.0)
