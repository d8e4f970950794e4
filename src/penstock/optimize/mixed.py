"""Shedding over time and ROWS windows together: a global search, as it is not convex.

The output is `∏_{time} x·(α + Σ_{rows} β_k·x_k)`: A&N Eq. 18 with time windows, which shrink when
their streams are shed. In logarithms only the bracket bends the wrong way. For given time fractions
the rest is a knapsack, so at most one ROWS input is neither at its floor nor kept whole: the search
first decides which, then halves the range of that one. Over a box a chord, linear in ln x_k, lies
above what bends the wrong way and makes a convex program whose optimum no point of the box exceeds;
the search ends when the best point found meets the best of these bounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count

import numpy as np

from penstock.optimize.geometric import Array, Program, logarithm, program, solve
from penstock.optimize.posynomial import Posynomial, value

# Parts of the tolerance: for what a relaxation may miss of its optimum, and for the fraction below
# which a ROWS input that may be shed to nothing is taken as nothing. The rest is the search's.
RELAXATION = 0.1
NOTHING = 0.1
SEARCH = 0.5
# Rarely, with many ROWS inputs, a search would take minutes; the best point after so many boxes
# (a second or so) is then taken.
MOST_BOXES = 200
FEW_INPUTS = 5
# From this tolerance on plans are only ranked, for which an eighth of the boxes will do.
ROUGH = 1e-5


@dataclass(frozen=True)
class Search:
    """What is maximised: `∏_{i in common} x_i·(alone + gains·x)` with the load in bounds."""

    load: Posynomial
    output: Posynomial
    common: frozenset[int]
    alone: float
    gains: Array
    capacity: float
    tolerance: float


@dataclass(frozen=True)
class Box:
    """Bounds of all fractions, the best point of the relaxation and the output it promises.

    The `undecided` are ROWS inputs that may be at their floor, whole, or the one between.
    """

    low: Array
    high: Array
    undecided: frozenset[int]
    point: Array
    promise: float


def most_mixed(
    load: Posynomial, output: Posynomial, low: Array, capacity: float, tolerance: float
) -> Array | None:
    """The fractions with the most output but for the tolerance, or None where `low` is too much.

    Up to five inputs the tolerance is always met; beyond, a search that would take minutes ends
    with the best point that it has found.
    """
    search = _search(load, output, len(low), capacity, tolerance)
    best, most = None, 0.0
    most_boxes = MOST_BOXES if tolerance < ROUGH else MOST_BOXES // 8
    order = count()
    heap: list[tuple[float, int, Box]] = []
    rows = frozenset(np.flatnonzero(search.gains).tolist())
    boxes = list(_box(search, low, np.ones(len(low)), rows))
    while True:
        for box in boxes:
            if (found := value(output, box.point.tolist())) > most:
                best, most = box.point, found
            heappush(heap, (-box.promise, next(order), box))
        is_long = len(low) > FEW_INPUTS and next(order) > most_boxes
        if not heap or is_long or -heap[0][0] <= most * (1.0 + SEARCH * tolerance):
            return None if best is None else np.where(best < _least(search, low), 0.0, best)
        boxes = list(_parts(search, heappop(heap)[2]))


def _search(
    load: Posynomial, output: Posynomial, size: int, capacity: float, tolerance: float
) -> Search:
    common = frozenset.intersection(*(m.factors for m in output))
    gains = np.zeros(size)
    alone = 0.0
    for monomial in output:
        match tuple(monomial.factors - common):
            case ():
                alone += monomial.coefficient
            case (i,):
                gains[i] += monomial.coefficient
            case others:
                raise ValueError(f"ROWS inputs {others} multiply each other")
    return Search(load, output, common, alone, gains, capacity, tolerance)


def _least(search: Search, low: Array) -> Array:
    """The fractions below which ROWS inputs that may be shed to nothing add nothing to speak of."""
    gains = np.where(search.gains > 0.0, search.gains, np.inf)
    least: Array = np.where(low > 0.0, 0.0, NOTHING * search.tolerance * search.alone / gains)
    return least


def _box(search: Search, low: Array, high: Array, undecided: frozenset[int]) -> Iterator[Box]:
    """The box with its relaxation solved; nothing where its lower corner is too much."""
    task = program(search.load, low, high, search.capacity)
    weights = np.zeros(len(low))
    weights[list(search.common)] = 1.0
    task = replace(task, weights=weights)
    task = _under_chords(search, task) if undecided else _under_one_chord(search, task)
    gap = RELAXATION * search.tolerance
    s = solve(task, gap)
    if s is not None:
        goal = float(task.weights @ s) + np.log(task.offset + task.slopes @ s)
        yield Box(low, high, undecided, np.exp(s), float(np.exp(goal + gap)))


def _under_chords(search: Search, task: Program) -> Program:
    """The relaxation with a chord above each ROWS fraction."""
    low, high = np.exp(task.low), np.exp(task.high)
    slopes = (high - low) / np.where(task.low < task.high, task.high - task.low, 1.0)
    offset = search.alone + float(search.gains @ (high - slopes * task.high))
    return replace(task, offset=offset, slopes=search.gains * slopes)


def _under_one_chord(search: Search, task: Program) -> Program:
    """The relaxation with a chord above the logarithm of the bracket, of which one input is left.

    It is the lowest there is, and exact where the bracket is all but proportional to the fraction.
    """
    ends = np.log([search.alone + search.gains @ np.exp(s) for s in (task.low, task.high)])
    wide = (task.low < task.high) & (search.gains > 0.0)
    slope = (ends[1] - ends[0]) / (task.high - task.low)[wide].sum() if wide.any() else 0.0
    start = ends[1] - slope * task.high[wide].sum()
    return replace(task, weights=task.weights + slope * wide, offset=float(np.exp(start)))


def _parts(search: Search, box: Box) -> Iterator[Box]:
    """The box split along the undecided input whose chord is farthest off, or the one left."""
    start, width = logarithm(box.low), logarithm(box.high) - logarithm(box.low)
    share = (logarithm(box.point) - start) / np.where(width > 0.0, width, 1.0)
    off = search.gains * (box.low + share * (box.high - box.low) - box.point)
    k = max(box.undecided or _between(search, box), key=lambda i: float(off[i]))
    rest = box.undecided - {k}
    for low, high in _ranges(search, box, k):
        lower, upper = box.low.copy(), box.high.copy()
        lower[k], upper[k] = low, high
        yield from _box(search, lower, upper, rest)


def _ranges(search: Search, box: Box, k: int) -> list[tuple[float, float]]:
    """The parts of the range of one input that can hold the optimum."""
    low, high = float(box.low[k]), float(box.high[k])
    if k not in box.undecided:
        # At the best point of the relaxation, but well inside.
        middle = min(max(float(box.point[k]), low**0.9 * high**0.1), low**0.1 * high**0.9)
        return [(low, middle), (middle, high)]
    ends = [(low, low), (high, high)]
    least = max(low, float(_least(search, box.low)[k]))
    is_free = _between(search, box) <= box.undecided and least < high
    return [*ends, (least, high)] if is_free else ends


def _between(search: Search, box: Box) -> frozenset[int]:
    """The ROWS inputs that may be neither at their floor nor whole."""
    return frozenset(np.flatnonzero(search.gains * (box.high - box.low)).tolist())
