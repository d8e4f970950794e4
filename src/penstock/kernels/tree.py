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

from penstock.kernels.compiled import compiled, inlined, uncounted
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

_FREE, _USED, _CLEANED, _CROWDED, _TRACED, _FOUND, _LEVEL, _HALTED = range(8)
"""Where things stand: the first free row and the first never used, the next position whose dead are
to be freed, whether there are too few buckets, the lengths of the trace and of the results, the
level of the climb under way (−1: none), and the position at which a run has halted (−1: none)."""
_MARKS = 8

_COMING, _OWN, _DEATH = range(3)
"""What a climb knows by level: the next row to look at on the other side, the row that has come
there (as in the trace), and its death."""

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
    marks[[_FREE, _LEVEL, _HALTED]] = -1
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
    hand = np.full(len(windows.head), -1)
    stack = np.empty((3, len(hand)), np.int64)
    books = (work, ledger, peaks)
    inner.marks[_FOUND] = 0
    block = _advance(windows, paths, inner, schedule, first, last, *books, found, hand, stack)
    while block < last:
        inner, found = _with_room(windows, paths, inner, found)
        block = _advance(windows, paths, inner, schedule, block, last, *books, found, hand, stack)
    return inner, found, int(inner.marks[_FOUND])


@uncounted
def _advance(
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
    hand: Int64s,
    stack: Int64s,
) -> int:
    """The block in which the room gave out, to go on with; `last` if it has lasted."""
    marks = inner.marks
    for block in range(first, last):
        begin, end = schedule.blocks[block], schedule.blocks[block + 1]
        if marks[_HALTED] >= 0:
            begin = marks[_HALTED]
        elif schedule.expires[block]:
            expire(windows, begin, work)
            _expire_inner(inner, begin, work)
        for position in range(begin, end):
            s = schedule.arrivals[position]
            if s < 0:
                continue
            if marks[_LEVEL] < 0:
                _enter(windows, paths, inner, s, work, peaks, hand, stack)
            _climb(windows, paths, inner, s, position, work, peaks, found, hand, stack)
            if marks[_LEVEL] >= 0 or marks[_CROWDED]:
                marks[_HALTED] = position if marks[_LEVEL] >= 0 else position + 1
                return block
        marks[_HALTED] = -1
        work[TUPLES] += end - schedule.blocks[block]
        if len(ledger):
            for kind in range(len(work)):
                ledger[block, kind] = work[kind]
    return last


@inlined
def _enter(
    windows: Windows,
    paths: Paths,
    inner: Inner,
    s: int,
    work: Int64s,
    peaks: Int64s,
    hand: Int64s,
    stack: Int64s,
) -> None:
    """Put the next row of an input into its window, and let it look at the first other side."""
    row = windows.tail[s]
    insert(windows, s)
    work[INSERTS] += 1
    peaks[s] = max(peaks[s], windows.tail[s] - windows.head[s])
    hand[s] = row
    inner.marks[_LEVEL] = 0
    stack[_OWN, 0] = row
    stack[_DEATH, 0] = min(windows.rows[row, DEATH], _NEVER)
    if paths.depths[s] > 0:
        stack[_COMING, 0] = _first(windows, paths, inner, s, 0, hand, work)


@inlined
def _climb(
    windows: Windows,
    paths: Paths,
    inner: Inner,
    s: int,
    position: int,
    work: Int64s,
    peaks: Int64s,
    found: Int32s,
    hand: Int64s,
    stack: Int64s,
) -> None:
    """Add all that comes of the newest row of an input: inner rows and results.

    The level is left where it is if there is no room for one more, and at −1 at the end.
    """
    rows, levels, pool, marks = windows.rows, paths.levels, inner.pool, inner.marks
    top = paths.depths[s] - 1
    compares, level = 0, marks[_LEVEL]
    while level >= 0 and _has_room(inner, found):
        if top < 0:
            _add(inner, found, hand, work)
            level -= 1
            continue
        row = stack[_COMING, level]
        other, node = levels[s, level, INPUT], levels[s, level, NODE]
        if row < 0 or (node < 0 and row < windows.head[other]):
            level -= 1
            continue
        compares += 1
        if node >= 0:
            stack[_COMING, level] = pool[row, _AFTER]
            death, there = pool[row, _DIES], pool[row, _SERIAL]
            _take(hand, paths.members, node, pool, row)
        else:
            link = levels[s, level, LINK]
            stack[_COMING, level] = rows[row, link] if link >= 0 else row - 1
            death, there = rows[row, DEATH], row
            hand[other] = row
        if death <= position or not _all_hold(rows, paths, s, level, hand):
            continue
        join, side = levels[s, level, JOIN], levels[s, level, SIDE]
        serial = _note(inner, join, side, stack[_OWN, level], there)
        if level == top:
            _add(inner, found, hand, work)
            continue
        death = min(death, stack[_DEATH, level])
        _keep(rows, paths, inner, join, death, serial, hand)
        work[INSERTS] += 1
        peaks[len(hand) + join] = max(peaks[len(hand) + join], inner.held[join])
        level += 1
        stack[_OWN, level], stack[_DEATH, level] = serial, death
        stack[_COMING, level] = _first(windows, paths, inner, s, level, hand, work)
    work[COMPARES] += compares
    marks[_LEVEL] = level


@inlined
def _first(
    windows: Windows, paths: Paths, inner: Inner, s: int, level: int, hand: Int64s, work: Int64s
) -> np.int64:
    """The first row to look at on the other side of a join."""
    levels, buckets = paths.levels, inner.buckets
    member, node = levels[s, level, KEY_INPUT], levels[s, level, NODE]
    if member < 0:
        whole = buckets[node, 0] if node >= 0 else windows.tail[levels[s, level, INPUT]] - 1
        return np.int64(whole)
    work[PROBES] += 1
    key = windows.rows[hand[member], levels[s, level, KEY_COLUMN]]
    if node >= 0:
        return np.int64(buckets[node, place(key, buckets.shape[1])])
    return np.int64(windows.buckets[bucket_of(windows.tables, levels[s, level, TABLE], key)])


@inlined
def _take(hand: Int64s, members: Int64s, join: int, pool: Int32s, row: int) -> None:
    for i in range(members.shape[1]):
        member = members[join, i]
        if member < 0:
            break
        hand[member] = pool[row, _MEMBERS + member]


@inlined
def _all_hold(rows: Int64s, paths: Paths, s: int, level: int, hand: Int64s) -> bool:
    checks = paths.checks
    for i in range(paths.levels[s, level, FIRST], paths.levels[s, level, END]):
        own = rows[hand[checks[i, 0]], checks[i, 1]]
        other = rows[hand[checks[i, 3]], checks[i, 4]]
        if not compare(own, checks[i, 2], other):
            return False
    return True


@inlined
def _has_room(inner: Inner, found: Int32s) -> bool:
    marks, traced = inner.marks, len(inner.trace)
    return (
        marks[_FOUND] < len(found)
        and (marks[_FREE] >= 0 or marks[_USED] < len(inner.pool))
        and (traced == 0 or marks[_TRACED] < traced)
    )


@inlined
def _note(inner: Inner, join: int, side: int, own: int, there: int) -> int:
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
def _add(inner: Inner, found: Int32s, hand: Int64s, work: Int64s) -> None:
    for i in range(len(hand)):
        found[inner.marks[_FOUND], i] = hand[i]
    inner.marks[_FOUND] += 1
    work[RESULTS] += 1


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
    _link(rows, paths, pool, inner.buckets, slot)
    inner.held[join] += 1
    if paths.keys[join, 0] >= 0 and inner.held[join] > inner.buckets.shape[1]:
        marks[_CROWDED] = 1


@inlined
def _link(rows: Int64s, paths: Paths, pool: Int32s, buckets: Int32s, slot: int) -> None:
    join = pool[slot, _OWNER]
    member = paths.keys[join, 0]
    bucket = np.int64(0)
    if member >= 0:
        key = rows[pool[slot, _MEMBERS + member], paths.keys[join, 1]]
        bucket = place(key, buckets.shape[1])
    after = buckets[join, bucket]
    pool[slot, _AFTER], pool[slot, _BEFORE] = after, ~bucket
    if after >= 0:
        pool[after, _BEFORE] = slot
    buckets[join, bucket] = slot


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


def _with_room(windows: Windows, paths: Paths, inner: Inner, found: Int32s) -> tuple[Inner, Int32s]:
    """The same rows and results, with more room where it has given out."""
    marks, pool, trace = inner.marks, inner.pool, inner.trace
    if marks[_FREE] < 0 and marks[_USED] == len(pool):
        inner = inner._replace(pool=longer(pool))
    if 0 < len(trace) == marks[_TRACED]:
        inner = inner._replace(trace=longer(trace))
    if marks[_CROWDED]:
        inner = inner._replace(buckets=_more_buckets(windows, paths, inner))
    return inner, longer(found) if marks[_FOUND] == len(found) else found


@compiled
def _more_buckets(windows: Windows, paths: Paths, inner: Inner) -> Int32s:
    """All rows in at least as many buckets as any hashed join has rows."""
    size = inner.buckets.shape[1]
    while size < inner.held[paths.keys[:, 0] >= 0].max():
        size *= 2
    buckets = np.full((len(inner.held), size), -1, np.int32)
    for slot in range(inner.marks[_USED]):
        if inner.pool[slot, _OWNER] >= 0:
            _link(windows.rows, paths, inner.pool, buckets, slot)
    inner.marks[_CROWDED] = 0
    return buckets
