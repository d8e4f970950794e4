"""Join windows by nested loops, one tuple or one block of new tuples at a time.

Everything is a position: tuples stand in one total order, a window is a stretch of its stream's
rows, and a row is alive at the positions from its birth to before its death. Chains of rows with
the same hash turn the loop over a window into one over a bucket.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled, inlined, uncounted
from penstock.lab.kernels.prices import LOOK, PROBE, SETTLE, VISIT, Prices, price

Int64s = NDArray[np.int64]
Int32s = NDArray[np.int32]
Floats = NDArray[np.float64]

BIRTH, DEATH = 0, 1
"""The first columns of every row; keys, links and compared values follow."""

EQ, NE, LT, LE, GT, GE = range(6)

TUPLES, INSERTS, EXPIRED, SWEEPS, PROBES, COMPARES, RESULTS = range(7)
"""Kinds of work, in the order in which they are counted."""
KINDS = 7

_FOUND, _POSITION, _LEVEL = range(3)
"""Where a run stands: the results so far, the position, and the level of its search (−1: none)."""

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Windows(NamedTuple):
    """The rows of all inputs, stream after stream, and what of them is in the windows now.

    The window of input s is the stretch from head[s] to before tail[s]. A hash table t of
    `tables` has (offset, stride, bucket count, key column, link column): `buckets` holds the newest
    row of each bucket and the link column the one before it. `tables_of` lists each input's. Where
    cleaning goes `by_bucket`, it looks at every bucket of a hashed window, as lists need it that
    start with their oldest tuple; otherwise the chains end by themselves at the head.
    """

    rows: Int64s
    head: Int64s
    tail: Int64s
    buckets: Int32s
    tables: Int64s
    tables_of: Int64s
    by_bucket: bool


class Screens(NamedTuple):
    """The filters of driving tuples that stand between the loops of routes.

    `slots[r, l]` are those after level l of route r, as one (−1: none). `passes[slot, row]` says
    whether a driving row passes them all, `fees[slot, row]` how many seconds it takes to decide;
    `asked[row]` is the deepest level at which that was done. Without rows there are no filters.
    """

    slots: Int32s
    passes: NDArray[np.bool_]
    fees: Floats
    asked: Int32s


class Loops(NamedTuple):
    """The nested loops of every route, outermost first, and the route that each new row takes.

    `levels[r, l]` is (input, link column or −1 to look at the whole window, table, level and column
    of the key to look up, first check, end of checks). A check is (own column, operator, level,
    column there). `positions[r]` is the level of the loop over the driver's new tuples; if it is
    not the first, all those of a block take the route together. `passed[r, l]` counts the rows that
    a level has let through. Routes with `screens` begin with the driver.
    """

    routes: Int32s
    positions: Int64s
    levels: Int64s
    checks: Int64s
    passed: Int64s
    screens: Screens


class Schedule(NamedTuple):
    """The order of arrivals, and the blocks in which they are joined."""

    arrivals: Int64s
    """The input of each tuple, in total order; −1 for one that nothing can join."""

    blocks: Int64s
    """The position at which each block starts, and the end."""

    expires: NDArray[np.bool_]
    """Whether the windows are cleaned before a block."""


class Counts(NamedTuple):
    """Counts of a run, which go on in place."""

    work: Int64s
    """Pieces of each kind of work."""

    ledger: Int64s
    """The same after each block; without rows it is not kept."""

    peaks: Int64s
    """The most rows of each window; of a tree, the inner joins come after the inputs."""

    deciding: Floats
    """The seconds spent on deciding about routes, as its one number."""

    prices: Prices
    """What predicates take by themselves."""

    spent: Floats
    """The seconds that they took, as its one number."""

    bill: Floats
    """The same after each block; without rows it is not kept."""


def no_screens() -> Screens:
    """No filter between loops."""
    return Screens(
        np.empty((0, 0), np.int32),
        np.empty((0, 0), np.bool_),
        np.empty((0, 0)),
        np.empty(0, np.int32),
    )


def run_blocks(
    windows: Windows,
    loops: Loops,
    schedule: Schedule,
    first: int,
    last: int,
    counts: Counts,
    found: Int32s,
    count: int = 0,
) -> tuple[Int32s, int]:
    """The results of blocks `first` to before `last`: the row of each input, and how many.

    `found` is where they are put, after the first `count`; if it is too small, a larger one is
    returned. `counts` go on.
    """
    inputs = len(windows.head)
    marks = np.array([count, 0, -1])
    fresh, stack = np.empty(inputs, np.int64), np.empty((5, inputs), np.int64)
    rest = (counts, marks, fresh, stack)
    block = _advance(windows, loops, schedule, first, last, found, *rest)
    while block < last:
        found = longer(found)
        block = _advance(windows, loops, schedule, block, last, found, *rest)
    return found, int(marks[_FOUND])


@uncounted
def _advance(
    windows: Windows,
    loops: Loops,
    schedule: Schedule,
    first: int,
    last: int,
    found: Int32s,
    counts: Counts,
    marks: Int64s,
    fresh: Int64s,
    stack: Int64s,
) -> int:
    """The block in which the room gave out, to go on with; `last` if it has lasted."""
    for block in range(first, last):
        if marks[_LEVEL] < 0:
            begin(windows, schedule, block, fresh, counts)
            marks[_POSITION] = schedule.blocks[block]
        for position in range(marks[_POSITION], schedule.blocks[block + 1]):
            s = schedule.arrivals[position]
            if s < 0 or fresh[s] == windows.tail[s]:
                continue
            newest = fresh[s]
            route = loops.routes[newest]
            if loops.positions[route] > 0:
                newest = windows.tail[s] - 1
            _search(windows, loops, route, fresh[s], newest, stack, counts, found, marks)
            if marks[_LEVEL] >= 0:
                marks[_POSITION] = position
                return block
            fresh[s] = newest + 1
        close_block(counts, block)
    return last


@inlined
def begin(windows: Windows, schedule: Schedule, block: int, fresh: Int64s, counts: Counts) -> None:
    """Clean the windows, and put the new rows of a block into them; `fresh` are the first."""
    work, peaks = counts.work, counts.peaks
    start, end = schedule.blocks[block], schedule.blocks[block + 1]
    if schedule.expires[block]:
        expire(windows, start, work)
    for s in range(len(fresh)):
        fresh[s] = windows.tail[s]
    for position in range(start, end):
        s = schedule.arrivals[position]
        if s >= 0:
            insert(windows, s)
            work[INSERTS] += 1
            if len(counts.prices.windows) > 0:
                counts.spent[0] += counts.prices.windows[s, SETTLE]
            peaks[s] = max(peaks[s], windows.tail[s] - windows.head[s])
    work[TUPLES] += end - start


@inlined
def close_block(counts: Counts, block: int) -> None:
    """Note the counts after a block, if there is a ledger."""
    if len(counts.ledger):
        for kind in range(KINDS):
            counts.ledger[block, kind] = counts.work[kind]
        counts.bill[block] = counts.spent[0]


@compiled
def arriving(schedule: Schedule, first: int, last: int, inputs: int) -> Int64s:
    """How many rows of each input come in blocks `first` to before `last`."""
    counts = np.zeros(inputs, np.int64)
    for position in range(schedule.blocks[first], schedule.blocks[last]):
        if schedule.arrivals[position] >= 0:
            counts[schedule.arrivals[position]] += 1
    return counts


@compiled
def insert_all(windows: Windows, arrivals: Int64s) -> None:
    """Put the next row of each of these inputs into its window and hash tables."""
    for s in arrivals:
        insert(windows, s)


@inlined
def expire(windows: Windows, position: int, work: Int64s) -> None:
    """Take the rows that are dead at a position off the old ends of all windows."""
    for s in range(len(windows.head)):
        row, tail = windows.head[s], windows.tail[s]
        while row < tail and windows.rows[row, DEATH] <= position:
            row += 1
        work[EXPIRED] += row - windows.head[s]
        windows.head[s] = row
        looked = _sweep_buckets(windows, s) if windows.by_bucket else 0
        work[SWEEPS] += max(looked, 1)


@inlined
def _sweep_buckets(windows: Windows, stream: int) -> int:
    """How many buckets an input's hash tables have; those without a living row are emptied."""
    looked = 0
    for i in range(windows.tables_of.shape[1]):
        t = windows.tables_of[stream, i]
        if t >= 0:
            for place_in_table in range(windows.tables[t, 2]):
                bucket = windows.tables[t, 0] + place_in_table * windows.tables[t, 1]
                if windows.buckets[bucket] < windows.head[stream]:
                    windows.buckets[bucket] = -1
            looked += windows.tables[t, 2]
    return looked


@inlined
def insert(windows: Windows, stream: int) -> None:
    """Put the next row of an input into its window and hash tables."""
    row = windows.tail[stream]
    for i in range(windows.tables_of.shape[1]):
        t = windows.tables_of[stream, i]
        if t >= 0:
            bucket = bucket_of(windows.tables, t, windows.rows[row, windows.tables[t, 3]])
            windows.rows[row, windows.tables[t, 4]] = windows.buckets[bucket]
            windows.buckets[bucket] = row
    windows.tail[stream] = row + 1


@inlined
def bucket_of(tables: Int64s, t: int, key: int) -> int:
    """Where the bucket of a key in hash table t lies."""
    place_in_all: int = tables[t, 0] + place(key, tables[t, 2]) * tables[t, 1]
    return place_in_all


@inlined
def place(key: int, count: int) -> np.int64:
    """The bucket of a key, of so many."""
    mixed = (np.uint64(key) * _GOLDEN) >> np.uint64(32)
    return np.int64((mixed * np.uint64(count)) >> np.uint64(32))


@inlined
def _search(
    windows: Windows,
    loops: Loops,
    route: int,
    oldest: int,
    newest: int,
    stack: Int64s,
    counts: Counts,
    found: Int32s,
    marks: Int64s,
) -> None:
    """Add all results whose last member is one of the driver's rows from `oldest` to `newest`.

    The level is left where it is if there is no room for one more, and at −1 at the end.
    """
    rows, levels, passed = windows.rows, loops.levels[route], loops.passed[route]
    position, deepest = loops.positions[route], levels.shape[0] - 1
    work, is_priced = counts.work, len(counts.prices.inputs) > 0
    screens, is_screened = loops.screens, len(loops.screens.slots) > 0
    # By level: the next row to look at, where to stop, the row in hand, and the latest birth and
    # the earliest death among the rows in hand.
    coming, floor, held, born, dies = stack[0], stack[1], stack[2], stack[3], stack[4]
    compares, probes, level = 0, 0, marks[_LEVEL]
    if level < 0:
        for i in range(deepest + 1):
            floor[i] = oldest if i == position else windows.head[levels[i, 0]]
        level, coming[0] = 0, newest if position == 0 else windows.tail[levels[0, 0]] - 1
    while level >= 0 and marks[_FOUND] < len(found):
        row = coming[level]
        if row < floor[level]:
            level -= 1
            continue
        link = levels[level, 1]
        coming[level] = rows[row, link] if link >= 0 else row - 1
        compares += 1
        if is_priced:
            counts.spent[0] += _priced(counts.prices, LOOK, levels, level)
        if not _holds(rows, loops.checks, levels[level, 5], levels[level, 6], row, held):
            continue
        birth, death = rows[row, BIRTH], rows[row, DEATH]
        if level > 0:
            latest = born[level - 1]
            if (birth > latest and level > position) or (birth < latest and level == position):
                continue
            birth, death = max(birth, latest), min(death, dies[level - 1])
            if death <= birth:
                continue
        held[level] = row
        if is_screened and not _screened(screens, route, held[0], level, counts):
            # It is the driving tuple that fails: nothing can come of it.
            level = -1
            break
        passed[level] += 1
        if level < deepest:
            born[level], dies[level] = birth, death
            level += 1
            if is_priced:
                counts.spent[0] += _priced(counts.prices, VISIT, levels, level)
            if levels[level, 1] < 0:
                coming[level] = windows.tail[levels[level, 0]] - 1
            else:
                key = rows[held[levels[level, 3]], levels[level, 4]]
                coming[level] = windows.buckets[bucket_of(windows.tables, levels[level, 2], key)]
                probes += 1
                if len(counts.prices.windows) > 0:
                    counts.spent[0] += counts.prices.windows[levels[level, 0], PROBE]
            continue
        for i in range(deepest + 1):
            found[marks[_FOUND], levels[i, 0]] = held[i]
        marks[_FOUND] += 1
        work[RESULTS] += 1
    work[COMPARES] += compares
    work[PROBES] += probes
    marks[_LEVEL] = level


@inlined
def _screened(screens: Screens, route: int, driver: int, level: int, counts: Counts) -> bool:
    """Whether a driving row passes the filters after a level, if there are any; they are decided
    once, when it first gets there."""
    slot, passes = screens.slots[route, level], True
    if slot >= 0:
        if screens.asked[driver] < level:
            screens.asked[driver] = level
            counts.spent[0] += screens.fees[slot, driver]
        passes = screens.passes[slot, driver]
    return passes


@inlined
def _priced(prices: Prices, kind: int, levels: Int64s, level: int) -> float:
    bound = 0
    for i in range(level):
        bound |= 1 << levels[i, 0]
    return price(prices, kind, bound, levels[level, 0])


@inlined
def _holds(rows: Int64s, checks: Int64s, first: int, end: int, row: int, held: Int64s) -> bool:
    for i in range(first, end):
        own, other = rows[row, checks[i, 0]], rows[held[checks[i, 2]], checks[i, 3]]
        if not compare(own, checks[i, 1], other):
            return False
    return True


@inlined
def compare(own: int, operator: int, other: int) -> bool:
    """Whether an operator holds between two codes."""
    if operator == EQ:
        true = own == other
    elif operator == NE:
        true = own != other
    elif operator == LT:
        true = own < other
    elif operator == LE:
        true = own <= other
    elif operator == GT:
        true = own > other
    else:
        true = own >= other
    return true


@compiled
def longer(rows: Int32s) -> Int32s:
    """The same rows with room for more than twice as many."""
    room = np.empty((2 * len(rows) + 1024, rows.shape[1]), np.int32)
    room[: len(rows)] = rows
    return room
