"""Load shedding: the fractions to keep of the inputs so that the most results survive (A&N §4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from penstock.optimize.algebra.posynomial import Monomial, Posynomial, gathered, value
from penstock.optimize.model.effort import Effort
from penstock.optimize.shedding.search import Array, most_output

# A load this much (relatively) over the capacity is rounding, not overload.
ROUNDING = 1e-9
# A fraction this near to a bound is put on it, if that costs no more than this part of the output.
AT_BOUND = 3e-7
# The most by which other fractions are lowered to make room for that.
ROOM = 1e-5


@dataclass(frozen=True)
class Kept:
    """The fraction kept of each input, with the load and the output that are left."""

    fractions: tuple[float, ...]
    load: float
    output: float


def best_drops(
    load: Posynomial,
    output: Posynomial,
    floors: Sequence[float],
    capacity: float,
    tolerance: float = 1e-6,
    effort: Effort | None = None,
) -> Kept | None:
    """The fractions, from `floors` to 1, with the most output at a load of at most `capacity`.

    None where even the floors are too much. ROWS windows alone make a continuous knapsack (A&N
    §4.2.1), time windows alone a convex program, whose output is at most `tolerance` (relative)
    below the best; both together are searched from several starts.
    """
    ones = (1.0,) * len(floors)
    if value(load, ones) <= capacity * (1.0 + ROUNDING):
        return _kept(load, output, ones)
    if value(load, _least(load, floors)) > capacity:
        return None
    if _is_linear(load) and _is_linear(output):
        return _kept(load, output, _knapsack(load, output, floors, capacity))
    return _curved(load, output, floors, capacity, tolerance, effort or Effort())


def selection_drop(cost: float) -> float:
    """Reference: the fraction to keep before a chain of selections that needs `cost` s/s.

    One box at the source is enough (A&N Obs. 2, Eq. 16). No plan is shed by it: `best_drops` has
    the same answer for one input.
    """
    return min(1.0, 1.0 / cost) if cost > 0.0 else 1.0


def _kept(load: Posynomial, output: Posynomial, fractions: Sequence[float]) -> Kept:
    return Kept(tuple(fractions), value(load, fractions), value(output, fractions))


def _inputs(posynomial: Posynomial) -> frozenset[int]:
    return frozenset().union(*(monomial.factors for monomial in posynomial))


def _least(load: Posynomial, floors: Sequence[float]) -> list[float]:
    """The floors of the inputs that load anything; the others are never shed."""
    loading = _inputs(load)
    return [floor if i in loading else 1.0 for i, floor in enumerate(floors)]


def _is_linear(posynomial: Posynomial) -> bool:
    return all(len(monomial.factors) <= 1 for monomial in posynomial)


def _knapsack(
    load: Posynomial, output: Posynomial, floors: Sequence[float], capacity: float
) -> list[float]:
    """Inputs filled up from their floors in the order of output per load (A&N §4.2.1)."""
    costs = {i: m.coefficient for m in gathered(load) for i in m.factors}
    gains = {i: m.coefficient for m in gathered(output) for i in m.factors}
    x = _least(load, floors)
    spare = max(0.0, capacity - value(load, x))
    for i in sorted(costs, key=lambda i: gains.get(i, 0.0) / costs[i], reverse=True):
        if i in gains:
            more = min((1.0 - x[i]) * costs[i], spare)
            x[i] = min(1.0, x[i] + more / costs[i])
            spare -= more
    return x


def _curved(
    load: Posynomial,
    output: Posynomial,
    floors: Sequence[float],
    capacity: float,
    tolerance: float,
    effort: Effort,
) -> Kept | None:
    """The best where a product of fractions occurs; what yields nothing stays at its floor."""
    x = np.array(_least(load, floors), np.float64)
    free = sorted(i for i in _inputs(load) & _inputs(output) if floors[i] < 1.0)
    if not free:
        return _kept(load, output, x.tolist())
    floor = _kept(load, output, x.tolist())
    found = None
    if floor.load < capacity:
        over = (_over(load, free, x), _over(output, free, x))
        found = most_output(*over, x[free], capacity, tolerance, effort)
    if found is None:
        return floor if floor.output > 0.0 else None
    x[free] = found
    return _on_bounds(load, output, x, floors, capacity)


def _on_bounds(
    load: Posynomial, output: Posynomial, x: Array, floors: Sequence[float], capacity: float
) -> Kept:
    """The fractions with those that are all but on a bound put there, the others making room."""
    from scipy.optimize import brentq

    found = _kept(load, output, x.tolist())
    lowest = np.array(floors)
    low, high = x - lowest < AT_BOUND * lowest, 1.0 - x < AT_BOUND
    exact = np.where(low, lowest, np.where(high, 1.0, x))
    room = np.where(low | high, 1.0, 1.0 - ROOM)

    def over(share: float) -> float:
        return value(load, (exact * room**share).tolist()) - capacity

    if over(1.0) > 0.0:
        return found
    share = brentq(over, 0.0, 1.0) if over(0.0) > 0.0 else 0.0
    rounded = _kept(load, output, np.maximum(exact * room**share, lowest).tolist())
    return rounded if rounded.output >= found.output * (1.0 - AT_BOUND) else found


def _over(posynomial: Posynomial, free: Sequence[int], x: Array) -> Posynomial:
    """The sum over the free fractions, numbered anew; the others are fixed as in x."""
    number = {i: place for place, i in enumerate(free)}
    return gathered(
        Monomial(
            m.coefficient * prod(float(x[i]) for i in m.factors if i not in number),
            frozenset(number[i] for i in m.factors if i in number),
        )
        for m in posynomial
    )
