"""The rows of the inner joins of a tree.

They do not die in the order in which they are born: they are listed by the position of their death,
lie in chains that they can leave, and what they leave is used again. So no dead row is looked at
once it has been cleaned away, and room is a small multiple of the most that were alive.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled, inlined
from penstock.lab.kernels.nested import EXPIRED, SWEEPS, longer, place

Int64s = NDArray[np.int64]
Int32s = NDArray[np.int32]

_OWNER, DIES, AFTER, _BEFORE, _NEXT, SERIAL, MEMBERS = range(7)
"""The columns of an inner row: its join (−1: free), its death, the rows after and before it in its
chain (before the first: the complement of the bucket), the next one that dies with it (or is free),
its place in the trace, and then its member of each input."""

_FREE, _USED, _CLEANED, CROWDED, _TRACED, FOUND, CLIMBED, HALTED = range(8)
"""Where things stand: the first free row and the first never used, the next position whose dead are
to be freed, whether there are too few buckets, the lengths of the trace and of the results, the
level of the climb under way (−1: none), and the position at which a run has halted (−1: none)."""
_MARKS = 8

_FEW = 64
"""Buckets to begin with; there are twice as many whenever a join has more rows than buckets."""


class Inner(NamedTuple):
    """The rows of all inner joins, and where a run stands.

    `buckets[j]` has the first row of each chain of join j, `dying[p]` the first of the rows that
    die at position p, `held` how many rows each join has. `trace`, unless it has no rows, keeps for
    every match (join, left, right): the row of an input, or the place in the trace of an inner row.
    """

    pool: Int32s
    buckets: Int32s
    dying: Int32s
    held: Int64s
    marks: Int64s
    trace: Int32s


def empty_inner(inputs: int, positions: int, traced: bool) -> Inner:
    """No rows, for a tree over so many inputs and tuples."""
    joins = max(inputs - 1, 1)
    marks = np.zeros(_MARKS, np.int64)
    marks[[_FREE, CLIMBED, HALTED]] = -1
    return Inner(
        pool=np.full((_FEW, MEMBERS + inputs), -1, np.int32),
        buckets=np.full((joins, _FEW), -1, np.int32),
        dying=np.full(positions, -1, np.int32),
        held=np.zeros(joins, np.int64),
        marks=marks,
        trace=np.empty((1024 if traced else 0, 3), np.int32),
    )


def traced(inner: Inner) -> Int32s:
    """The trace so far."""
    return inner.trace[: inner.marks[_TRACED]]


@inlined
def has_room(inner: Inner, found: Int32s) -> bool:
    """Whether one more row, its trace and one more result can be put down."""
    marks, traced = inner.marks, len(inner.trace)
    return (
        marks[FOUND] < len(found)
        and (marks[_FREE] >= 0 or marks[_USED] < len(inner.pool))
        and (traced == 0 or marks[_TRACED] < traced)
    )


@inlined
def note(inner: Inner, join: int, side: int, own: int, there: int) -> int:
    """The place in the trace of a match of two rows; −1 where nothing is traced."""
    if len(inner.trace) == 0:
        return -1
    serial: int = inner.marks[_TRACED]
    inner.trace[serial, 0] = join
    inner.trace[serial, 1 + side] = own
    inner.trace[serial, 2 - side] = there
    inner.marks[_TRACED] += 1
    return serial


@inlined
def keep(
    rows: Int64s, keys: Int64s, inner: Inner, join: int, death: int, serial: int, hand: Int64s
) -> None:
    """Put the match in hand into the state of a join; there is room for it."""
    pool, marks = inner.pool, inner.marks
    slot = marks[_FREE]
    if slot >= 0:
        marks[_FREE] = pool[slot, _NEXT]
    else:
        slot = marks[_USED]
        marks[_USED] += 1
    pool[slot, _OWNER], pool[slot, DIES], pool[slot, SERIAL] = join, death, serial
    for i in range(len(hand)):
        pool[slot, MEMBERS + i] = hand[i]
    if death < len(inner.dying):
        pool[slot, _NEXT] = inner.dying[death]
        inner.dying[death] = slot
    _link(rows, keys, pool, inner.buckets, slot)
    inner.held[join] += 1
    if keys[join, 0] >= 0 and inner.held[join] > inner.buckets.shape[1]:
        marks[CROWDED] = 1


@inlined
def _link(rows: Int64s, keys: Int64s, pool: Int32s, buckets: Int32s, slot: int) -> None:
    join = pool[slot, _OWNER]
    member = keys[join, 0]
    bucket = np.int64(0)
    if member >= 0:
        key = rows[pool[slot, MEMBERS + member], keys[join, 1]]
        bucket = place(key, buckets.shape[1])
    after = buckets[join, bucket]
    pool[slot, AFTER], pool[slot, _BEFORE] = after, ~bucket
    if after >= 0:
        pool[after, _BEFORE] = slot
    buckets[join, bucket] = slot


@inlined
def expire_inner(inner: Inner, position: int, work: Int64s) -> None:
    """Free the rows that are dead at a position."""
    for p in range(inner.marks[_CLEANED], position + 1):
        slot = inner.dying[p]
        while slot >= 0:
            following = inner.pool[slot, _NEXT]
            _free(inner, slot)
            work[EXPIRED] += 1
            slot = following
    inner.marks[_CLEANED] = position + 1
    work[SWEEPS] += len(inner.held) - 1


@inlined
def _free(inner: Inner, slot: int) -> None:
    pool, join = inner.pool, inner.pool[slot, _OWNER]
    before, after = pool[slot, _BEFORE], pool[slot, AFTER]
    if before >= 0:
        pool[before, AFTER] = after
    else:
        inner.buckets[join, ~before] = after
    if after >= 0:
        pool[after, _BEFORE] = before
    inner.held[join] -= 1
    pool[slot, _OWNER], pool[slot, _NEXT] = -1, inner.marks[_FREE]
    inner.marks[_FREE] = slot


def with_room(rows: Int64s, keys: Int64s, inner: Inner, found: Int32s) -> tuple[Inner, Int32s]:
    """The same rows and results, with more room where it has given out."""
    marks, pool, trace = inner.marks, inner.pool, inner.trace
    if marks[_FREE] < 0 and marks[_USED] == len(pool):
        inner = inner._replace(pool=longer(pool))
    if 0 < len(trace) == marks[_TRACED]:
        inner = inner._replace(trace=longer(trace))
    # A climb under way is in the midst of chains: they stay as they are until it is over.
    if marks[CROWDED] and marks[CLIMBED] < 0:
        inner = inner._replace(buckets=_more_buckets(rows, keys, inner))
    return inner, longer(found) if marks[FOUND] == len(found) else found


@compiled
def _more_buckets(rows: Int64s, keys: Int64s, inner: Inner) -> Int32s:
    """All rows in at least as many buckets as any hashed join has rows."""
    size = inner.buckets.shape[1]
    while size < inner.held[keys[:, 0] >= 0].max():
        size *= 2
    buckets = np.full((len(inner.held), size), -1, np.int32)
    for slot in range(inner.marks[_USED]):
        if inner.pool[slot, _OWNER] >= 0:
            _link(rows, keys, inner.pool, buckets, slot)
    inner.marks[CROWDED] = 0
    return buckets
