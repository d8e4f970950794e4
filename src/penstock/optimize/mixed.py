"""Shedding over time and ROWS windows together: a global search, as it is not convex.

The output is `∏_{time} x·(α + Σ_{rows} β_k·x_k)`: A&N Eq. 18 with time windows, which shrink when
their streams are shed. In logarithms only the bracket bends the wrong way. Over a box each x_k lies
under the chord of the exponential, which is linear in ln x_k, so the chords make a convex program
whose optimum no point of the box exceeds. For given time fractions the rest is a knapsack, so at
most one ROWS input is neither at its floor nor kept whole: the search first decides which, then
halves the range of that one, until the bound meets the best point found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count

import numpy as np

from penstock.optimize.geometric import GAP, Array, logarithm, program, solve
from penstock.optimize.posynomial import Posynomial, value

# The search ends when no box can hold more than this factor (less one) above the best point.
TOLERANCE = 3e-7
# A ROWS input that may be shed to nothing is taken as nothing below the fraction at which it adds
# this part of the output.
NEGLIGIBLE = 1e-7


@dataclass(frozen=True)
class Search:
    """What is maximised: `∏_{i in common} x_i·(alone + gains·x)` with the load in bounds."""

    load: Posynomial
    output: Posynomial
    common: frozenset[int]
    alone: float
    gains: Array
    capacity: float


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


def most_mixed(load: Posynomial, output: Posynomial, low: Array, capacity: float) -> Array | None:
    """The fractions with the most output, or None where `low` is too much."""
    search = _search(load, output, len(low), capacity)
    best, most = None, 0.0
    order = count()
    heap: list[tuple[float, int, Box]] = []
    boxes = list(_box(search, low, np.ones(len(low)), frozenset(np.flatnonzero(search.gains))))
    while True:
        for box in boxes:
            if (found := value(output, box.point.tolist())) > most:
                best, most = box.point, found
            heappush(heap, (-box.promise, next(order), box))
        if not heap or -heap[0][0] <= most * (1.0 + TOLERANCE):
            return best
        boxes = list(_parts(search, heappop(heap)[2]))


def _search(load: Posynomial, output: Posynomial, size: int, capacity: float) -> Search:
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
    return Search(load, output, common, alone, gains, capacity)


def _box(search: Search, low: Array, high: Array, undecided: frozenset[int]) -> Iterator[Box]:
    """The box with its relaxation solved; nothing where its lower corner is too much."""
    task = program(search.load, low, high, search.capacity)
    wide = (task.low < task.high) & (search.gains > 0.0)
    slopes = np.zeros(len(low))
    slopes[wide] = (high - low)[wide] / (task.high - task.low)[wide]
    starts = high - slopes * task.high
    weights = np.zeros(len(low))
    weights[list(search.common)] = 1.0
    offset = search.alone + float(search.gains @ starts)
    task = replace(task, weights=weights, offset=offset, slopes=search.gains * slopes)
    s = solve(task)
    if s is not None:
        goal = float(task.weights @ s) + np.log(task.offset + task.slopes @ s)
        yield Box(low, high, undecided, np.exp(s), float(np.exp(goal + GAP)))


def _parts(search: Search, box: Box) -> Iterator[Box]:
    """The box split along the input whose chord is farthest off."""
    start, width = logarithm(box.low), logarithm(box.high) - logarithm(box.low)
    share = (logarithm(box.point) - start) / np.where(width > 0.0, width, 1.0)
    chord = box.low + share * (box.high - box.low)
    k = int(np.argmax(search.gains * (chord - box.point)))
    rest = box.undecided - {k}
    for low, high in _ranges(search, box, k, float(np.exp(start[k] + share[k] * width[k]))):
        lower, upper = box.low.copy(), box.high.copy()
        lower[k], upper[k] = low, high
        yield from _box(search, lower, upper, rest)


def _ranges(search: Search, box: Box, k: int, at: float) -> list[tuple[float, float]]:
    """The parts of the range of one input that can hold the optimum."""
    low, high = float(box.low[k]), float(box.high[k])
    if k not in box.undecided:
        middle = min(max(at, low**0.9 * high**0.1), low**0.1 * high**0.9)
        return [(low, middle), (middle, high)]
    ends = [(low, low), (high, high)]
    between = frozenset(np.flatnonzero(search.gains * (box.high - box.low)))
    if between - box.undecided:
        return ends
    least = max(low, NEGLIGIBLE * search.alone / float(search.gains[k]))
    return [*ends, (least, high)] if least < high else ends
