"""Join trees tuple by tuple: a new row climbs from its input to the root.

At every join it looks at the state of the other side; each match becomes a row of the join's own
state and climbs on. Positions are as in `nested`: state holds rows born earlier, so that a match is
alive from now until its first member dies.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import inlined, uncounted
from penstock.lab.kernels.inner_state import (
    AFTER,
    CLIMBED,
    CROWDED,
    DIES,
    FOUND,
    HALTED,
    MEMBERS,
    SERIAL,
    Inner,
    expire_inner,
    has_room,
    keep,
    note,
    with_room,
)
from penstock.lab.kernels.nested import (
    COMPARES,
    DEATH,
    INSERTS,
    PROBES,
    RESULTS,
    TUPLES,
    Counts,
    Schedule,
    Windows,
    bucket_of,
    close_block,
    compare,
    expire,
    insert,
    place,
)
from penstock.lab.kernels.prices import LOOK, VISIT

Int64s = NDArray[np.int64]
Int32s = NDArray[np.int32]

JOIN, SIDE, INPUT, NODE, LINK, TABLE, KEY_INPUT, KEY_COLUMN, FIRST, END = range(10)
"""The columns of a level of a path."""
FACTS = 10

_COMING, _OWN, _DEATH = range(3)
"""The rows of a climb's stack, by level: the next row to look at on the other side, the row that
has come there (as in the trace), and its death."""

_NEVER = 2**31 - 1


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


def run_arrivals(
    windows: Windows,
    paths: Paths,
    inner: Inner,
    schedule: Schedule,
    first: int,
    last: int,
    counts: Counts,
    found: Int32s,
) -> tuple[Inner, Int32s, int]:
    """The inner rows after blocks `first` to before `last`, the results, and how many.

    As in `run_blocks`; the tuples of a block are taken one by one, whether or not they have waited
    for each other.
    """
    hand = np.full(len(windows.head), -1)
    stack = np.empty((3, len(hand)), np.int64)
    inner.marks[FOUND] = 0
    block = _advance(windows, paths, inner, schedule, first, last, counts, found, hand, stack)
    while block < last:
        inner, found = with_room(windows.rows, paths.keys, inner, found)
        block = _advance(windows, paths, inner, schedule, block, last, counts, found, hand, stack)
    return inner, found, int(inner.marks[FOUND])


@uncounted
def _advance(
    windows: Windows,
    paths: Paths,
    inner: Inner,
    schedule: Schedule,
    first: int,
    last: int,
    counts: Counts,
    found: Int32s,
    hand: Int64s,
    stack: Int64s,
) -> int:
    """The block in which the room gave out, to go on with; `last` if it has lasted."""
    marks, work = inner.marks, counts.work
    for block in range(first, last):
        begin, end = schedule.blocks[block], schedule.blocks[block + 1]
        if marks[HALTED] >= 0:
            begin = marks[HALTED]
        elif schedule.expires[block]:
            expire(windows, begin, work)
            expire_inner(inner, begin, work)
        for position in range(begin, end):
            s = schedule.arrivals[position]
            if s < 0:
                continue
            if marks[CLIMBED] < 0:
                _enter(windows, paths, inner, s, counts, hand, stack)
            _climb(windows, paths, inner, s, position, counts, found, hand, stack)
            if marks[CLIMBED] >= 0 or marks[CROWDED]:
                marks[HALTED] = position if marks[CLIMBED] >= 0 else position + 1
                return block
        marks[HALTED] = -1
        work[TUPLES] += end - schedule.blocks[block]
        close_block(counts, block)
    return last


@inlined
def _enter(
    windows: Windows,
    paths: Paths,
    inner: Inner,
    s: int,
    counts: Counts,
    hand: Int64s,
    stack: Int64s,
) -> None:
    """Put the next row of an input into its window, and let it look at the first other side."""
    work, peaks = counts.work, counts.peaks
    row = windows.tail[s]
    insert(windows, s)
    work[INSERTS] += 1
    peaks[s] = max(peaks[s], windows.tail[s] - windows.head[s])
    hand[s] = row
    inner.marks[CLIMBED] = 0
    stack[_OWN, 0] = row
    stack[_DEATH, 0] = min(windows.rows[row, DEATH], _NEVER)
    if paths.depths[s] > 0:
        stack[_COMING, 0] = _first(windows, paths, inner, s, 0, hand, counts)


@inlined
def _climb(
    windows: Windows,
    paths: Paths,
    inner: Inner,
    s: int,
    position: int,
    counts: Counts,
    found: Int32s,
    hand: Int64s,
    stack: Int64s,
) -> None:
    """Add all that comes of the newest row of an input: inner rows and results.

    The level is left where it is if there is no room for one more, and at −1 at the end.
    """
    rows, levels, pool, marks = windows.rows, paths.levels, inner.pool, inner.marks
    work, peaks, is_priced = counts.work, counts.peaks, len(counts.prices.joins) > 0
    top = paths.depths[s] - 1
    compares, level = 0, marks[CLIMBED]
    while level >= 0 and has_room(inner, found):
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
        if is_priced:
            counts.spent[0] += _price(counts, levels, s, level, LOOK)
        if node >= 0:
            stack[_COMING, level] = pool[row, AFTER]
            death, there = pool[row, DIES], pool[row, SERIAL]
            _take(hand, paths.members, node, pool, row)
        else:
            link = levels[s, level, LINK]
            stack[_COMING, level] = rows[row, link] if link >= 0 else row - 1
            death, there = rows[row, DEATH], row
            hand[other] = row
        if death <= position or not _all_hold(rows, paths, s, level, hand):
            continue
        join, side = levels[s, level, JOIN], levels[s, level, SIDE]
        serial = note(inner, join, side, stack[_OWN, level], there)
        if level == top:
            _add(inner, found, hand, work)
            continue
        death = min(death, stack[_DEATH, level])
        keep(rows, paths.keys, inner, join, death, serial, hand)
        work[INSERTS] += 1
        peaks[len(hand) + join] = max(peaks[len(hand) + join], inner.held[join])
        level += 1
        stack[_OWN, level], stack[_DEATH, level] = serial, death
        stack[_COMING, level] = _first(windows, paths, inner, s, level, hand, counts)
    work[COMPARES] += compares
    marks[CLIMBED] = level


@inlined
def _price(counts: Counts, levels: Int64s, s: int, level: int, kind: int) -> float:
    """Seconds of a visit or look of what comes from the side of an input."""
    seconds: float = counts.prices.joins[levels[s, level, JOIN], levels[s, level, SIDE], kind]
    return seconds


@inlined
def _first(
    windows: Windows, paths: Paths, inner: Inner, s: int, level: int, hand: Int64s, counts: Counts
) -> np.int64:
    """The first row to look at on the other side of a join."""
    levels, buckets = paths.levels, inner.buckets
    if len(counts.prices.joins) > 0:
        counts.spent[0] += _price(counts, levels, s, level, VISIT)
    member, node = levels[s, level, KEY_INPUT], levels[s, level, NODE]
    if member < 0:
        whole = buckets[node, 0] if node >= 0 else windows.tail[levels[s, level, INPUT]] - 1
        return np.int64(whole)
    counts.work[PROBES] += 1
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
        hand[member] = pool[row, MEMBERS + member]


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
def _add(inner: Inner, found: Int32s, hand: Int64s, work: Int64s) -> None:
    for i in range(len(hand)):
        found[inner.marks[FOUND], i] = hand[i]
    inner.marks[FOUND] += 1
    work[RESULTS] += 1
