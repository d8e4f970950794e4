"""Lotteries: draw the orders of all uncertain routes anew, by what has come of the last ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import inlined, uncounted
from penstock.lab.kernels.nested import Loops
from penstock.lab.kernels.ways import Ways, settle_way

Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]


class Wheels(NamedTuple):
    """The uncertain routes, by their numbers, each with the order that it has now.

    `orders[w]` are the inputs level by level, the driver first; `stages[w, t]` is the stage of the
    route that input t is in. `is_searched[w, t]` says whether its rows are found by key. `came[w,
    t]` and `went[w, t]` are the rows that went to an input and came out so far, and `counted` how
    many rows each level had let through at the last drawing.
    """

    routes: Int64s
    orders: Int64s
    stages: Int64s
    is_searched: NDArray[np.bool_]
    came: Floats
    went: Floats
    counted: Int64s


@uncounted
def draw(wheels: Wheels, times: Floats, ways: Ways, loops: Loops) -> None:
    """Learn from the rows since the last drawing, and draw all orders.

    `times` are exponential. Divided by an input's slice of the wheel they put the inputs of a stage
    into order as drawing one after another does, each by its slice of those that are left.
    """
    for w in range(len(wheels.routes)):
        _learn(wheels, w, loops.passed[wheels.routes[w]])
        order, is_new = wheels.orders[w], False
        for t in range(len(order)):
            # The fewer rows come out for those that go in, the larger the slice (QM §5.4).
            times[w, t] *= wheels.went[w, t] / wheels.came[w, t]
        for level in range(2, len(order)):
            target, place = order[level], level
            while place > 1 and _is_before(wheels.stages[w], times[w], target, order[place - 1]):
                order[place] = order[place - 1]
                place -= 1
                is_new = True
            order[place] = target
        if is_new:
            _lower(wheels, w, ways, loops)


@inlined
def _is_before(stages: Int64s, times: Floats, one: int, other: int) -> bool:
    is_before: bool = stages[one] == stages[other] and times[one] < times[other]
    return is_before


@inlined
def _learn(wheels: Wheels, w: int, passed: Int64s) -> None:
    for level in range(1, len(passed)):
        target = wheels.orders[w, level]
        wheels.came[w, target] += passed[level - 1] - wheels.counted[w, level - 1]
        wheels.went[w, target] += passed[level] - wheels.counted[w, level]
    for level in range(len(passed)):
        wheels.counted[w, level] = passed[level]


@inlined
def _lower(wheels: Wheels, w: int, ways: Ways, loops: Loops) -> None:
    """Write an order down as loops, in the place of the one before: it has as many checks."""
    route, order = wheels.routes[w], wheels.orders[w]
    levels = loops.levels[route]
    end, bound = levels[0, 5], 1 << order[0]
    for level in range(1, len(order)):
        target, own = order[level], levels[level]
        checks = loops.checks[end:]
        count = settle_way(ways, order[0], target, bound, own[1:5], checks)
        own[0], own[5], own[6] = target, end, end + count
        own[3] = _level_of(order, own[3])
        if not wheels.is_searched[w, target]:
            own[1] = -1
        for c in range(count):
            checks[c, 2] = _level_of(order, checks[c, 2])
        end += count
        bound |= 1 << target


@inlined
def _level_of(order: Int64s, target: int) -> int:
    level = 0
    while level < len(order) - 1 and order[level] != target:
        level += 1
    return level
