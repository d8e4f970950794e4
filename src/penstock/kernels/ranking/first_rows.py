"""The first rows of each part, from tick to tick, and what changes among them.

Rows are numbered in their order, part after part: row i stands before row j of its part if i < j.
A row that changes is another row from then on, with the same key.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled
from penstock.kernels.ranking.counted import add, before, counted, place_of

Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]

# More ranks than there can be rows.
_ALL = 2**62


class Ranked(NamedTuple):
    """Rows in their order: their parts, where each part begins (and the last one ends), what tells
    rows apart, what is shown of them, and how many copies there are of each."""

    parts: Int64s
    begins: Int64s
    keys: Int64s
    looks: Int64s
    copies: Int64s


class Events(NamedTuple):
    """Rows that come and go, in the order of time; −1 where none comes, or none goes."""

    times: Int64s
    come: Int64s
    gone: Int64s


class Asked(NamedTuple):
    """How many rows of each part are wanted at the most, whether their numbers are shown, and
    whether they are told apart by their numbers and not by their keys."""

    most: int
    is_numbered: bool
    by_number: bool


class Listed(NamedTuple):
    """Rows with their numbers from 1 on; of a change also its time, and whether the row is there
    from then on."""

    rows: Int64s
    numbers: Int64s
    times: Int64s
    is_there: Bools


def first_rows(ranked: Ranked, events: Events, there: Bools, asked: Asked) -> tuple[Listed, Listed]:
    """What changes among the first rows, and those that are there in the end.

    `there` says of each row whether it is there in the beginning.
    """
    tree = counted(np.where(there, ranked.copies, 0))
    changes = _changes(tree, ranked, events, asked)
    parts = np.arange(len(ranked.begins) - 1)
    whole = np.column_stack([parts, parts * 0, np.full(len(parts), asked.most)])
    rows, _ = _listed(tree, ranked.begins, whole)
    is_there = np.ones(len(rows), np.bool_)
    return Listed(*changes), Listed(rows[:, 0], rows[:, 1], np.zeros(len(rows), np.int64), is_there)


@compiled
def _changes(
    tree: Int64s, ranked: Ranked, events: Events, asked: Asked
) -> tuple[Int64s, Int64s, Int64s, Bools]:
    """The changes of all ticks; the tree is left as it is after the last."""
    bounds = np.full((len(ranked.begins), 3), -1)
    seen = np.full(len(ranked.keys), -1)
    out = np.empty((64, 4), np.int64)
    n, first = 0, 0
    while first < len(events.times):
        last = first
        while last < len(events.times) and events.times[last] == events.times[first]:
            last += 1
        spans = _spans(tree, ranked, events.come[first:last], events.gone[first:last], bounds)
        spans[:, 2] = np.minimum(spans[:, 2], asked.most)
        old, old_ends = _listed(tree, ranked.begins, spans)
        for e in range(first, last):
            if events.gone[e] >= 0:
                add(tree, events.gone[e], -ranked.copies[events.gone[e]])
            if events.come[e] >= 0:
                add(tree, events.come[e], ranked.copies[events.come[e]])
        new, new_ends = _listed(tree, ranked.begins, spans)
        out = _with_room(out, n + len(old) + len(new))
        if asked.by_number:
            m = _by_number(ranked.looks, old, old_ends, new, new_ends, out, n)
        else:
            m = _by_key(ranked, old, new, asked.is_numbered, seen, out, n)
        out[n:m, 2] = events.times[first]
        n, first = m, last
    return out[:n, 0].copy(), out[:n, 1].copy(), out[:n, 2].copy(), out[:n, 3] == 1


@compiled
def _spans(tree: Int64s, ranked: Ranked, come: Int64s, gone: Int64s, bounds: Int64s) -> Int64s:
    """The parts that rows come to or go from: between which ranks others may be there afterwards.

    Before the first of these rows all stay as they are, and so do those after the last of them, if
    as many come as go. `bounds` is room for the first and last row of each part, and what they add.
    """
    touched = np.empty(len(come) + len(gone), np.int64)
    n = 0
    for i in range(len(touched)):
        is_coming = i < len(come)
        row = come[i] if is_coming else gone[i - len(come)]
        if row < 0:
            continue
        part = ranked.parts[row]
        if bounds[part, 0] < 0:
            bounds[part, 0], bounds[part, 1], bounds[part, 2] = row, row, 0
            touched[n] = part
            n += 1
        bounds[part, 0] = min(bounds[part, 0], row)
        bounds[part, 1] = max(bounds[part, 1], row)
        bounds[part, 2] += ranked.copies[row] if is_coming else -ranked.copies[row]
    spans = np.empty((n, 3), np.int64)
    for i in range(n):
        part = touched[i]
        base = before(tree, ranked.begins[part])
        spans[i, 0] = part
        spans[i, 1] = before(tree, bounds[part, 0]) - base
        spans[i, 2] = before(tree, bounds[part, 1] + 1) - base if bounds[part, 2] == 0 else _ALL
        bounds[part, 0] = -1
    return spans


@compiled
def _listed(tree: Int64s, begins: Int64s, spans: Int64s) -> tuple[Int64s, Int64s]:
    """The rows at the ranks of some parts with their numbers, and where those of each part end."""
    ends = np.zeros(len(spans) + 1, np.int64)
    for i in range(len(spans)):
        part = spans[i, 0]
        size = before(tree, begins[part + 1]) - before(tree, begins[part])
        ends[i + 1] = ends[i] + max(0, min(size, spans[i, 2]) - spans[i, 1])
    rows = np.empty((ends[-1], 2), np.int64)
    for i in range(len(spans)):
        base = before(tree, begins[spans[i, 0]]) + spans[i, 1]
        for k in range(ends[i + 1] - ends[i]):
            rows[ends[i] + k, 0] = place_of(tree, base + k)
            rows[ends[i] + k, 1] = spans[i, 1] + k + 1
    return rows, ends


@compiled
def _by_key(
    ranked: Ranked,
    old: Int64s,
    new: Int64s,
    is_numbered: bool,
    seen: Int64s,
    out: Int64s,
    n: int,
) -> int:
    """Write the changes of rows that are told apart by their keys; how many there are then."""
    for i in range(len(old)):
        seen[ranked.keys[old[i, 0]]] = i
    for i in range(len(new)):
        row = new[i, 0]
        was = seen[ranked.keys[row]]
        seen[ranked.keys[row]] = -1
        is_same = was >= 0 and ranked.looks[row] == ranked.looks[old[was, 0]]
        if is_same and (not is_numbered or new[i, 1] == old[was, 1]):
            continue
        out[n, 0], out[n, 1], out[n, 3] = row, new[i, 1], 1
        n += 1
    for i in range(len(old)):
        row = old[i, 0]
        if seen[ranked.keys[row]] == i:
            seen[ranked.keys[row]] = -1
            out[n, 0], out[n, 1], out[n, 3] = row, old[i, 1], 0
            n += 1
    return n


@compiled
def _by_number(
    looks: Int64s,
    old: Int64s,
    old_ends: Int64s,
    new: Int64s,
    new_ends: Int64s,
    out: Int64s,
    n: int,
) -> int:
    """Write the changes of rows that are told apart by their parts and numbers."""
    for i in range(len(old_ends) - 1):
        olds, news = old_ends[i + 1] - old_ends[i], new_ends[i + 1] - new_ends[i]
        for k in range(max(olds, news)):
            was, now = old_ends[i] + k, new_ends[i] + k
            if k >= news:
                out[n, 0], out[n, 1], out[n, 3] = old[was, 0], old[was, 1], 0
                n += 1
            elif k >= olds or looks[old[was, 0]] != looks[new[now, 0]]:
                out[n, 0], out[n, 1], out[n, 3] = new[now, 0], new[now, 1], 1
                n += 1
    return n


@compiled
def _with_room(out: Int64s, size: int) -> Int64s:
    """The same rows, with room for so many."""
    if size <= len(out):
        return out
    larger = np.empty((max(size, 2 * len(out)), out.shape[1]), np.int64)
    larger[: len(out)] = out
    return larger
