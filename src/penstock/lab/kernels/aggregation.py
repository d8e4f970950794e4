"""Join windows or aggregation sets one tuple at a time, and keep the groups of what is found.

What a stream offers to the others are its *items*: the tuples of its window, or the rows of its
aggregation set, into which tuples that agree in key and group are folded. Both are kept alike: in a
list, which nested loops go through, and in chains by key, which hash joins go through and in which
a tuple finds the row that it is folded into.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import inlined, uncounted

Int64s = NDArray[np.int64]

INSERTS, EXPIRED, COMPARES, FOLDS, GROUPED, FOUND = range(6)
"""Kinds of work: updates of windows by new and old tuples; items compared in search of partners;
rows compared in search of the one to fold into; the same of the query's groups; join rows."""
KINDS = 6


class Tuples(NamedTuple):
    """All tuples: their stream, the item they are in, and value and presence of each argument."""

    stream: Int64s
    item: Int64s
    values: Int64s
    present: Int64s


class Items(NamedTuple):
    """The items of all streams: key, share in the number of the group, and what is in them now.

    `held` tells how many tuples are in an item. `live` lists the items of a stream that have any,
    from its `start` on, and `place` is where an item stands in it. A chain begins at
    `heads[bucket]`; `before` and `after` link it.
    """

    key: Int64s
    group: Int64s
    bucket: Int64s
    held: Int64s
    sums: Int64s
    present: Int64s
    live: Int64s
    place: Int64s
    start: Int64s
    size: Int64s
    heads: Int64s
    before: Int64s
    after: Int64s


class Groups(NamedTuple):
    """The query's aggregation set by the number of the group, in chains as items are.

    `touched` lists the groups that join rows were added to or taken out of, each once, `listed`
    of them; they are those that are `marked`.
    """

    bucket: Int64s
    held: Int64s
    sums: Int64s
    present: Int64s
    heads: Int64s
    before: Int64s
    after: Int64s
    marked: NDArray[np.bool_]
    touched: Int64s
    listed: Int64s


class Visits(NamedTuple):
    """By stream the others in the order of visits, whether each is looked at whole (nested loops),
    whether the stream folds, and by argument the stream that brings it."""

    targets: Int64s
    nested: NDArray[np.bool_]
    folds: NDArray[np.bool_]
    owner: Int64s


@uncounted
def run_events(
    tuples: Tuples,
    items: Items,
    groups: Groups,
    visits: Visits,
    events: Int64s,
    signs: Int64s,
    work: Int64s,
    cursor: Int64s,
    chosen: Int64s,
) -> None:
    """Add and remove tuples one by one (T&L Fig. 5). A sign of 2 adds without looking for partners:
    rows of tables are there before everything. `cursor` and `chosen` have room for each visit."""
    for number in range(len(events)):
        one, sign = events[number], signs[number]
        _update(tuples, items, visits, one, 1 if sign > 0 else -1, work)
        if sign != 2:
            _search(tuples, items, groups, visits, one, sign, work, cursor, chosen)


@uncounted
def _update(
    tuples: Tuples, items: Items, visits: Visits, one: int, sign: int, work: Int64s
) -> None:
    """Take a tuple into its stream's items, or out of them."""
    stream, item = tuples.stream[one], tuples.item[one]
    work[INSERTS if sign > 0 else EXPIRED] += 1
    if visits.folds[stream]:
        _is_linked(items.heads, items.after, items.bucket[item], item, work, FOLDS)
    if items.held[item] == 0:
        _enter(items, stream, item)
    items.held[item] += sign
    for lane in range(tuples.values.shape[1]):
        items.sums[item, lane] += sign * tuples.values[one, lane]
        items.present[item, lane] += sign * tuples.present[one, lane]
    if items.held[item] == 0:
        _leave(items, stream, item)


@inlined
def _enter(items: Items, stream: int, item: int) -> None:
    place = items.start[stream] + items.size[stream]
    items.live[place] = item
    items.place[item] = place
    items.size[stream] += 1
    _link(items.heads, items.before, items.after, items.bucket[item], item)


@inlined
def _leave(items: Items, stream: int, item: int) -> None:
    items.size[stream] -= 1
    last = items.live[items.start[stream] + items.size[stream]]
    items.live[items.place[item]] = last
    items.place[last] = items.place[item]
    _unlink(items.heads, items.before, items.after, items.bucket[item], item)


@inlined
def _link(heads: Int64s, before: Int64s, after: Int64s, bucket: int, item: int) -> None:
    first = heads[bucket]
    heads[bucket] = item
    before[item] = -1
    after[item] = first
    if first >= 0:
        before[first] = item


@inlined
def _is_linked(
    heads: Int64s, after: Int64s, bucket: int, wanted: int, work: Int64s, kind: int
) -> bool:
    """Whether something is in a chain; each look at a row counts, and one at the end of it."""
    at = heads[bucket]
    while at >= 0 and at != wanted:
        work[kind] += 1
        at = after[at]
    work[kind] += 1
    return bool(at >= 0)


@inlined
def _unlink(heads: Int64s, before: Int64s, after: Int64s, bucket: int, item: int) -> None:
    if before[item] >= 0:
        after[before[item]] = after[item]
    else:
        heads[bucket] = after[item]
    if after[item] >= 0:
        before[after[item]] = before[item]


@uncounted
def _search(
    tuples: Tuples,
    items: Items,
    groups: Groups,
    visits: Visits,
    one: int,
    sign: int,
    work: Int64s,
    cursor: Int64s,
    chosen: Int64s,
) -> None:
    """Find a tuple's partners, one stream after the other, and update the groups of all it finds.

    A cursor is a place in the list of items for nested loops, and an item of the chain for others.
    """
    stream = tuples.stream[one]
    key = items.key[tuples.item[one]]
    depth = visits.targets.shape[1]
    level = 0
    cursor[0] = _first(items, visits, stream, 0, key)
    while level >= 0:
        if level == depth:
            _tally(tuples, items, groups, visits, one, sign, work, chosen)
            level -= 1
            continue
        target = visits.targets[stream, level]
        found = -1
        if visits.nested[stream, level]:
            end = items.start[target] + items.size[target]
            at = cursor[level]
            while at < end and found < 0:
                work[COMPARES] += 1
                if items.key[items.live[at]] == key:
                    found = items.live[at]
                at += 1
            cursor[level] = at
        else:
            at = cursor[level]
            while at >= 0 and found < 0:
                work[COMPARES] += 1
                if items.key[at] == key:
                    found = at
                at = items.after[at]
            cursor[level] = at
        if found < 0:
            level -= 1
            continue
        chosen[level] = found
        level += 1
        if level < depth:
            cursor[level] = _first(items, visits, stream, level, key)


@inlined
def _first(items: Items, visits: Visits, stream: int, level: int, key: int) -> int:
    """Where the search at a level begins: in the list, or in the chain of the key. Each stream has
    as many buckets of its own."""
    target = visits.targets[stream, level]
    place: int = items.start[target]
    if not visits.nested[stream, level]:
        each = len(items.heads) // len(items.start)
        place = items.heads[target * each + key % each]
    return place


@uncounted
def _tally(
    tuples: Tuples,
    items: Items,
    groups: Groups,
    visits: Visits,
    one: int,
    sign: int,
    work: Int64s,
    chosen: Int64s,
) -> None:
    """Add a join row to its group, or take it out: a row of as many results as the product of its
    members' counts; what one member brings is multiplied by the counts of all others."""
    work[FOUND] += 1
    stream = tuples.stream[one]
    number, results = items.group[tuples.item[one]], 1
    depth = visits.targets.shape[1]
    for level in range(depth):
        number += items.group[chosen[level]]
        results *= items.held[chosen[level]]
    _find_group(groups, number, work)
    if not groups.marked[number]:
        groups.marked[number] = True
        groups.touched[groups.listed[0]] = number
        groups.listed[0] += 1
    groups.held[number] += sign * results
    for lane in range(len(visits.owner)):
        if visits.owner[lane] == stream:
            groups.sums[number, lane] += sign * results * tuples.values[one, lane]
            groups.present[number, lane] += sign * results * tuples.present[one, lane]
            continue
        for level in range(depth):
            if visits.targets[stream, level] == visits.owner[lane]:
                item = chosen[level]
                # Division takes long, and of a tuple of a window it changes nothing.
                own = items.held[item]
                others = sign * (results if own == 1 else results // own)
                groups.sums[number, lane] += others * items.sums[item, lane]
                groups.present[number, lane] += others * items.present[item, lane]
    if groups.held[number] == 0:
        _unlink(groups.heads, groups.before, groups.after, groups.bucket[number], number)


@inlined
def _find_group(groups: Groups, number: int, work: Int64s) -> None:
    """Go through the chain of a group until it is found, and add it if it is not there."""
    bucket = groups.bucket[number]
    if not _is_linked(groups.heads, groups.after, bucket, number, work, GROUPED):
        _link(groups.heads, groups.before, groups.after, groups.bucket[number], number)
