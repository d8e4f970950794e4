"""Join trees tuple by tuple: a new row climbs from its input to the root.

At every join it looks at the state of the other side; each match becomes a row of the join's own
state and climbs on. Positions are as in `nested`: state holds rows born earlier, so that a match is
alive from now until its first member dies. Inner rows do not die in the order in which they are
born: they are listed by the position of their death, and lie in chains that they can leave.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled, inlined
from penstock.kernels.nested import (
    COMPARES,
    DEATH,
    EXPIRED,
    INSERTS,
    PROBES,
    RESULTS,
    SWEEPS,
    TUPLES,
    Schedule,
    Windows,
    bucket_of,
    compare,
    expire,
    insert,
    longer,
    place,
)

Int64s = NDArray[np.int64]
Int32s = NDArray[np.int32]

JOIN, SIDE, INPUT, NODE, LINK, TABLE, KEY_INPUT, KEY_COLUMN, FIRST, END = range(10)
"""What is said of a level of a path."""
LEVEL = 10

_OWNER, _DIES, _AFTER, _BEFORE, _NEXT, _SERIAL, _MEMBERS = range(7)
"""The columns of an inner row: its join (−1: free), its death, the rows after and before it in its
chain (before the first: the complement of the bucket), the next one that dies with it (or is free),
its place in the trace, and then its member of each input."""

_FREE, _USED, _CLEANED, _CROWDED, _TRACED = range(5)
_MARKS = 5

_NEVER = 2**31 - 1
_FEW = 64
"""Buckets to begin with; there are twice as many whenever a join has more rows than buckets."""


class Paths(NamedTuple):
    """The joins that the rows of each input pass, and what they do there.

    `levels[s, l]` is (join, side from which the row comes, input on the other side or −1, inner
    join on the other side or −1, link column and table there, input and column of the key to look
    up or −1 to look at all rows, first check, end of checks), for l below `depths[s]`. A check is
    (input, column, operator, input, column). `members[j]` are the inputs below join j, −1 after the
    last; `keys[j]` the input and column by which its rows are hashed, −1 if they are one chain.
    Joins are numbered from the leaves up; the last is the root and keeps no rows.
    """

    depths: Int64s
    levels: Int64s
    checks: Int64s
    members: Int64s
    keys: Int64s


class Inner(NamedTuple):
    """The rows of all inner joins. A function that may need more room returns a larger one.

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
    marks[_FREE] = -1
    return Inner(
        pool=np.full((_FEW, _MEMBERS + inputs), -1, np.int32),
        buckets=np.full((joins, _FEW), -1, np.int32),
        dying=np.full(positions, -1, np.int32),
        held=np.zeros(joins, np.int64),
        marks=marks,
        trace=np.empty((1024 if traced else 0, 3), np.int32),
    )


def traced(inner: Inner) -> Int32s:
    """The trace so far."""
    return inner.trace[: inner.marks[_TRACED]]


@compiled
def run_arrivals(
    windows: Windows,
    paths: Paths,
    inner: Inner,
    schedule: Schedule,
    first: int,
    last: int,
    work: Int64s,
    ledger: Int64s,
    peaks: Int64s,
    found: Int32s,
) -> tuple[Inner, Int32s, int]:
    """The inner rows after blocks `first` to before `last`, the results, and how many.

    As in `run_blocks`; `peaks` has the joins after the inputs. The tuples of a block are taken one
    by one, whether or not they have waited for each other.
    """
    count = 0
    inputs = len(windows.head)
    hand = np.full(inputs, -1)
    stack = np.empty((3, inputs), np.int64)
    for block in range(first, last):
        start, end = schedule.blocks[block], schedule.blocks[block + 1]
        if schedule.expires[block]:
            expire(windows, start, work)
            _expire_inner(inner, start, work)
        for position in range(start, end):
            s = schedule.arrivals[position]
            if s >= 0:
                insert(windows, s)
                peaks[s] = max(peaks[s], windows.tail[s] - windows.head[s])
                before = count
                inner, found, count = _climb(
                    windows, paths, inner, s, position, hand, stack, work, peaks, found, count
                )
                work[INSERTS] += 1
                work[RESULTS] += count - before
                if inner.marks[_CROWDED]:
                    inner = _with_more_buckets(windows, paths, inner)
        work[TUPLES] += end - start
        if len(ledger):
            ledger[block] = work
    return inner, found, count


@inlined
def _climb(
    windows: Windows,
    paths: Paths,
    inner: Inner,
    s: int,
    position: int,
    hand: Int64s,
    stack: Int64s,
    work: Int64s,
    peaks: Int64s,
    found: Int32s,
    count: int,
) -> tuple[Inner, Int32s, int]:
    """Add all that comes of the newest row of an input: inner rows, and results."""
    rows, levels, top = windows.rows, paths.levels[s], paths.depths[s] - 1
    pool, trace, marks = inner.pool, inner.trace, inner.marks
    # By level: the next row to look at on the other side, the row that has come there (as in the
    # trace) and its death. `hand` has the rows of all inputs that are in the match.
    coming, own, dies = stack[0], stack[1], stack[2]
    compares, probes, inserts, level = 0, 0, 0, 0
    hand[s] = own[0] = windows.tail[s] - 1
    dies[0] = min(rows[hand[s], DEATH], _NEVER)
    if top < 0:
        found, count = _add(found, count, hand)
        return inner, found, count
    coming[0] = _first(windows, inner, levels[0], hand)
    probes += levels[0, KEY_INPUT] >= 0
    while level >= 0:
        row = coming[level]
        other, node = levels[level, INPUT], levels[level, NODE]
        if row < 0 or (node < 0 and row < windows.head[other]):
            level -= 1
            continue
        compares += 1
        if node >= 0:
            coming[level], death, there = pool[row, _AFTER], pool[row, _DIES], pool[row, _SERIAL]
            _take(hand, paths.members, node, pool, row)
        else:
            link = levels[level, LINK]
            coming[level] = rows[row, link] if link >= 0 else row - 1
            death, there = rows[row, DEATH], row
            hand[other] = row
        if death <= position or not _all_hold(rows, paths.checks, levels[level], hand):
            continue
        join, serial = levels[level, JOIN], -1
        if len(trace):
            serial = marks[_TRACED]
            if serial == len(trace):
                trace = longer(trace)
                inner = Inner(pool, inner.buckets, inner.dying, inner.held, marks, trace)
                inner = Inner(pool, inner.buckets, inner.dying, inner.held, marks, trace)
            side = levels[level, SIDE]
            trace[serial, 0], trace[serial, 1 + side], trace[serial, 2 - side] = (
                join,
                own[level],
                there,
            )
            marks[_TRACED] += 1
        if level == top:
            found, count = _add(found, count, hand)
            continue
        if marks[_FREE] < 0 and marks[_USED] == len(pool):
            pool = longer(pool)
            inner = Inner(pool, inner.buckets, inner.dying, inner.held, marks, trace)
        death = min(death, dies[level])
        _keep(rows, paths, inner, join, death, serial, hand)
        peaks[len(hand) + join] = max(peaks[len(hand) + join], inner.held[join])
        inserts += 1
        level += 1
        own[level], dies[level] = serial, death
        coming[level] = _first(windows, inner, levels[level], hand)
        probes += levels[level, KEY_INPUT] >= 0
    work[COMPARES] += compares
    work[PROBES] += probes
    work[INSERTS] += inserts
    return inner, found, count


@inlined
def _first(windows: Windows, inner: Inner, level: Int64s, hand: Int64s) -> np.int64:
    """The first row to look at on the other side of a join."""
    key = windows.rows[hand[level[KEY_INPUT]], level[KEY_COLUMN]] if level[KEY_INPUT] >= 0 else 0
    if level[NODE] >= 0:
        buckets = inner.buckets[level[NODE]]
        first = buckets[place(key, len(buckets))] if level[KEY_INPUT] >= 0 else buckets[0]
    elif level[KEY_INPUT] >= 0:
        first = windows.buckets[bucket_of(windows.tables, level[TABLE], key)]
    else:
        first = windows.tail[level[INPUT]] - 1
    return np.int64(first)


@inlined
def _take(hand: Int64s, members: Int64s, join: int, pool: Int32s, row: int) -> None:
    for i in range(members.shape[1]):
        member = members[join, i]
        if member < 0:
            break
        hand[member] = pool[row, _MEMBERS + member]


@inlined
def _all_hold(rows: Int64s, checks: Int64s, level: Int64s, hand: Int64s) -> bool:
    for i in range(level[FIRST], level[END]):
        own = rows[hand[checks[i, 0]], checks[i, 1]]
        other = rows[hand[checks[i, 3]], checks[i, 4]]
        if not compare(own, checks[i, 2], other):
            return False
    return True


@inlined
def _add(found: Int32s, count: int, hand: Int64s) -> tuple[Int32s, int]:
    if count == len(found):
        found = longer(found)
    for i in range(len(hand)):
        found[count, i] = hand[i]
    return found, count + 1


@inlined
def _keep(
    rows: Int64s, paths: Paths, inner: Inner, join: int, death: int, serial: int, hand: Int64s
) -> None:
    """Put the match in hand into the state of a join; there is room for it."""
    pool, marks = inner.pool, inner.marks
    slot = marks[_FREE]
    if slot >= 0:
        marks[_FREE] = pool[slot, _NEXT]
    else:
        slot = marks[_USED]
        marks[_USED] += 1
    pool[slot, _OWNER], pool[slot, _DIES], pool[slot, _SERIAL] = join, death, serial
    for i in range(len(hand)):
        pool[slot, _MEMBERS + i] = hand[i]
    if death < len(inner.dying):
        pool[slot, _NEXT] = inner.dying[death]
        inner.dying[death] = slot
    _link(rows, paths, pool, inner.buckets[join], slot)
    inner.held[join] += 1
    if paths.keys[join, 0] >= 0 and inner.held[join] > inner.buckets.shape[1]:
        marks[_CROWDED] = 1


@inlined
def _link(rows: Int64s, paths: Paths, pool: Int32s, buckets: Int32s, slot: int) -> None:
    member, column = paths.keys[pool[slot, _OWNER]]
    bucket = np.int64(0)
    if member >= 0:
        bucket = place(rows[pool[slot, _MEMBERS + member], column], len(buckets))
    after = buckets[bucket]
    pool[slot, _AFTER], pool[slot, _BEFORE] = after, ~bucket
    if after >= 0:
        pool[after, _BEFORE] = slot
    buckets[bucket] = slot


@inlined
def _expire_inner(inner: Inner, position: int, work: Int64s) -> None:
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
    before, after = pool[slot, _BEFORE], pool[slot, _AFTER]
    if before >= 0:
        pool[before, _AFTER] = after
    else:
        inner.buckets[join, ~before] = after
    if after >= 0:
        pool[after, _BEFORE] = before
    inner.held[join] -= 1
    pool[slot, _OWNER], pool[slot, _NEXT] = -1, inner.marks[_FREE]
    inner.marks[_FREE] = slot


@compiled
def _with_more_buckets(windows: Windows, paths: Paths, inner: Inner) -> Inner:
    """The same rows in at least as many buckets as any hashed join has rows."""
    size = inner.buckets.shape[1]
    while size < inner.held[paths.keys[:, 0] >= 0].max():
        size *= 2
    buckets = np.full((len(inner.held), size), -1, np.int32)
    for slot in range(inner.marks[_USED]):
        if inner.pool[slot, _OWNER] >= 0:
            _link(windows.rows, paths, inner.pool, buckets[inner.pool[slot, _OWNER]], slot)
    inner.marks[_CROWDED] = 0
    return Inner(inner.pool, buckets, inner.dying, inner.held, inner.marks, inner.trace)
