"""Join windows with an eddy: each partial result goes back to a router, which says where it goes.

The windows are those of the nested loops. What is bound differs from one partial result to the
next, so how the rows of an input are found and checked is settled as it is chosen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import inlined, uncounted
from penstock.lab.kernels.nested import (
    BIRTH,
    COMPARES,
    DEATH,
    PROBES,
    RESULTS,
    Counts,
    Schedule,
    Windows,
    begin,
    bucket_of,
    close_block,
    compare,
    longer,
)
from penstock.lab.kernels.prices import LOOK, PROBE, VISIT, price
from penstock.lab.kernels.ways import Ways, settle_way

Int64s = NDArray[np.int64]
Int32s = NDArray[np.int32]
Floats = NDArray[np.float64]

_FOUND, _POSITION, _LEVEL = range(3)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Router(NamedTuple):
    """The figures that the router goes by; they are set anew at every refresh.

    `codes[row, a]` is the bucket of a tuple's attribute a, `attributes[d, t]` the attribute by
    which driver d decides about input t (−1: none tells anything), and `expected[d, t, bucket]` the
    rows that come out for one that goes in. Rows of an input have codes up to `known`; where no
    attribute tells anything of any input, a driver `is_blind` and all its tuples are alike. Rows in
    `drawn` are profiled: `slots[row]` is the place there (−1: none), and `tried` and `matched`
    count what goes to each input and what comes out.
    """

    codes: NDArray[np.uint8]
    attributes: Int64s
    expected: Floats
    known: Int64s
    is_blind: NDArray[np.bool_]
    slots: Int32s
    drawn: Int64s
    tried: Int32s
    matched: Int32s


class Hand(NamedTuple):
    """The partial result in hand, and decisions that are still good.

    `held[t]` is its row of input t. All else is by who decides: one for each driver, and one for
    profiled tuples. `levels[w, l]` says for a level which input it is at, by which link, table and
    key (input there, column there) it is searched, how many `checks` a row must pass, the next row
    and the last, when the rows so far were all born and when one dies, and which inputs are bound
    (as bits). `yields[w, i, t]` are the rows expected of input t for tuple i of the batch,
    `weights[w, i]` the rows that should have come of it so far, `ranks` the sums over the batch.
    `orders[w]` are the inputs level by level, as far as `decided[w]`; the others are left. The
    batch ends before row `ends[w]`.
    """

    held: Int64s
    levels: Int64s
    checks: Int64s
    yields: Floats
    weights: Floats
    ranks: Floats
    orders: Int64s
    decided: Int64s
    ends: Int64s


_INPUT, _LINK, _TABLE, _THERE, _COLUMN, _CHECKS, _NEXT, _FLOOR, _BORN, _DIES, _BOUND = range(11)


def empty_hand(inputs: int, most_checks: int, batch: int) -> Hand:
    """Nothing in hand and nothing decided."""
    deciders = inputs + 1
    return Hand(
        held=np.zeros(inputs, np.int64),
        levels=np.zeros((deciders, inputs, 11), np.int64),
        checks=np.zeros((deciders, inputs, most_checks, 4), np.int64),
        yields=np.zeros((deciders, batch, inputs)),
        weights=np.zeros((deciders, batch)),
        ranks=np.zeros(inputs),
        orders=np.array([_from(decider, inputs) for decider in range(deciders)]),
        decided=np.zeros(deciders, np.int64),
        ends=np.zeros(deciders, np.int64),
    )


def _from(driver: int, inputs: int) -> list[int]:
    """The driver and then all others; all in their order for those who decide for any driver."""
    return sorted(range(inputs), key=lambda i: i != driver)


def run_eddy(
    windows: Windows,
    ways: Ways,
    router: Router,
    hand: Hand,
    batch: int,
    schedule: Schedule,
    first: int,
    last: int,
    counts: Counts,
    found: Int32s,
    count: int,
) -> tuple[Int32s, int]:
    """As `run_blocks`; one decision at each step is for `batch` tuples of a stream.

    A batch of 1 is no batch: every partial result goes back to the router. Only where no attribute
    tells anything is one decision for all tuples until the next refresh.
    """
    marks = np.array([count, 0, -1])
    fresh = np.empty(len(windows.head), np.int64)
    machine = (windows, ways, router, hand, batch, schedule)
    rest = (counts, marks, fresh)
    block = _advance(*machine, first, last, found, *rest)
    while block < last:
        found = longer(found)
        block = _advance(*machine, block, last, found, *rest)
    return found, int(marks[_FOUND])


@uncounted
def _advance(
    windows: Windows,
    ways: Ways,
    router: Router,
    hand: Hand,
    batch: int,
    schedule: Schedule,
    first: int,
    last: int,
    found: Int32s,
    counts: Counts,
    marks: Int64s,
    fresh: Int64s,
) -> int:
    """The block in which the room gave out, to go on with; `last` if it has lasted."""
    for block in range(first, last):
        if marks[_LEVEL] < 0:
            begin(windows, schedule, block, fresh, counts)
            marks[_POSITION] = schedule.blocks[block]
        for position in range(marks[_POSITION], schedule.blocks[block + 1]):
            s = schedule.arrivals[position]
            if s < 0:
                continue
            if marks[_LEVEL] < 0:
                _take(windows, router, hand, batch, s, fresh[s])
            _pursue(windows, ways, router, hand, batch, s, fresh[s], counts, found, marks)
            if marks[_LEVEL] >= 0:
                marks[_POSITION] = position
                return block
            fresh[s] += 1
        close_block(counts, block)
    return last


@inlined
def _take(windows: Windows, router: Router, hand: Hand, batch: int, driver: int, row: int) -> None:
    """Take a new tuple in hand, and look up what is expected of it or of its batch."""
    inputs = len(windows.head)
    who, count = driver, 1
    if router.slots[row] >= 0:
        who = inputs
    elif row < hand.ends[driver]:
        return
    elif router.is_blind[driver]:
        hand.ends[driver] = router.known[driver]
    else:
        hand.ends[driver] = min(row + batch, router.known[driver])
        count = hand.ends[driver] - row
    hand.decided[who] = 0
    for i in range(batch):
        hand.weights[who, i] = 1.0 if i < count else 0.0
    for i in range(count):
        for t in range(inputs):
            code = router.codes[row + i, max(router.attributes[driver, t], 0)]
            hand.yields[who, i, t] = router.expected[driver, t, code]
    if who == inputs:
        # One hop at random is enough to learn from, and costs far less than a random order.
        any_input = ((np.uint64(row) * _GOLDEN) >> np.uint64(32)) % np.uint64(inputs)
        hand.yields[who, 0, any_input] = -1.0
    if hand.orders[who, 0] != driver or hand.levels[who, 0, _BOUND] == 0:
        _begin_with(hand, who, driver)


@inlined
def _begin_with(hand: Hand, who: int, driver: int) -> None:
    """Put a driver first; nothing that was settled for another one holds."""
    order = hand.orders[who]
    for place in range(len(order)):
        hand.levels[who, place, _BOUND] = 0
        if order[place] == driver:
            order[place], order[0] = order[0], driver
    own = hand.levels[who, 0]
    own[_INPUT], own[_LINK], own[_CHECKS], own[_BOUND] = driver, -1, 0, 1 << driver


@inlined
def _pursue(
    windows: Windows,
    ways: Ways,
    router: Router,
    hand: Hand,
    batch: int,
    driver: int,
    fresh: int,
    counts: Counts,
    found: Int32s,
    marks: Int64s,
) -> None:
    """Add all results whose last member is the tuple in hand.

    The level is left where it is if there is no room for one more, and at −1 at the end.
    """
    rows, held, inputs, slot = windows.rows, hand.held, len(windows.head), router.slots[fresh]
    who = driver if slot < 0 else inputs
    levels, checks = hand.levels[who], hand.checks[who]
    is_each = batch == 1 and not router.is_blind[driver]
    work, prices, is_priced = counts.work, counts.prices, len(counts.prices.inputs) > 0
    compares, probes, level = 0, 0, marks[_LEVEL]
    if level < 0:
        level, levels[0, _NEXT], levels[0, _FLOOR] = 0, fresh, fresh
    while level >= 0 and marks[_FOUND] < len(found):
        row = levels[level, _NEXT]
        if row < levels[level, _FLOOR]:
            level -= 1
            continue
        link = levels[level, _LINK]
        levels[level, _NEXT] = rows[row, link] if link >= 0 else row - 1
        compares += 1
        if is_priced and level > 0:
            bound = levels[level - 1, _BOUND]
            counts.spent[0] += price(prices, LOOK, bound, levels[level, _INPUT])
        if not _holds(rows, checks, level, levels[level, _CHECKS], row, held):
            continue
        birth, death = rows[row, BIRTH], rows[row, DEATH]
        if level > 0:
            if birth > levels[level - 1, _BORN]:
                continue
            birth = levels[level - 1, _BORN]
            death = min(death, levels[level - 1, _DIES])
            if death <= birth:
                continue
        held[levels[level, _INPUT]] = row
        if slot >= 0:
            router.matched[slot, levels[level, _INPUT]] += 1
        if level < inputs - 1:
            levels[level, _BORN], levels[level, _DIES] = birth, death
            level += 1
            if is_each or level > hand.decided[who]:
                _decide(ways, hand, batch, driver, who, level)
            target = levels[level, _INPUT]
            if is_priced:
                counts.spent[0] += price(prices, VISIT, levels[level - 1, _BOUND], target)
            if slot >= 0:
                router.tried[slot, target] += 1
            levels[level, _FLOOR] = windows.head[target]
            if levels[level, _LINK] < 0:
                levels[level, _NEXT] = windows.tail[target] - 1
            else:
                key = rows[held[levels[level, _THERE]], levels[level, _COLUMN]]
                bucket = bucket_of(windows.tables, levels[level, _TABLE], key)
                levels[level, _NEXT] = windows.buckets[bucket]
                probes += 1
                if len(prices.windows) > 0:
                    counts.spent[0] += prices.windows[target, PROBE]
            continue
        for i in range(inputs):
            found[marks[_FOUND], i] = held[i]
        marks[_FOUND] += 1
        work[RESULTS] += 1
    work[COMPARES] += compares
    work[PROBES] += probes
    marks[_LEVEL] = level


@inlined
def _decide(ways: Ways, hand: Hand, batch: int, driver: int, who: int, level: int) -> None:
    """Turn to the input with the fewest expected rows of those that are left, near ones first."""
    bound, order = hand.levels[who, level - 1, _BOUND], hand.orders[who]
    ranks, is_batch = hand.yields[who, 0], batch > 1 and who == driver
    if is_batch:
        ranks = _totals(hand, who)
    best, is_near = level, ways.near[order[level]] & bound != 0
    for place in range(level + 1, len(order)):
        near = ways.near[order[place]] & bound != 0
        is_less = ranks[order[place]] < ranks[order[best]]
        if (near and not is_near) or (near == is_near and is_less):
            best, is_near = place, near
    target = order[best]
    order[best], order[level] = order[level], target
    if is_batch:
        for i in range(batch):
            hand.weights[who, i] *= hand.yields[who, i, target]
    own = hand.levels[who, level]
    # A way that is settled stays so while the same inputs come before.
    if own[_INPUT] != target or own[_BOUND] != bound | 1 << target:
        own[_INPUT], own[_BOUND] = target, bound | 1 << target
        checks = hand.checks[who, level]
        own[_CHECKS] = settle_way(ways, driver, target, bound, own[_LINK : _COLUMN + 1], checks)
    hand.decided[who] = level


@inlined
def _totals(hand: Hand, who: int) -> Floats:
    """The rows that are expected of each input, by the partial results that there should be now."""
    ranks = hand.ranks
    for t in range(len(ranks)):
        ranks[t] = 0.0
    for i in range(hand.weights.shape[1]):
        for t in range(len(ranks)):
            ranks[t] += hand.weights[who, i] * hand.yields[who, i, t]
    return ranks


@inlined
def _holds(rows: Int64s, checks: Int64s, level: int, count: int, row: int, held: Int64s) -> bool:
    for i in range(count):
        own = rows[row, checks[level, i, 0]]
        other = rows[held[checks[level, i, 2]], checks[level, i, 3]]
        if not compare(own, checks[level, i, 1], other):
            return False
    return True
