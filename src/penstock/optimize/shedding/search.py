"""The fractions with the most output at a bounded load, where products of fractions occur.

In logarithms the load bounds a convex set. With time windows alone the output is linear, so that
the one local optimum is the best. With ROWS windows it is `∏_{time} x·(α + Σ_{rows} β_k·x_k)`: A&N
Eq. 18 with time windows, which shrink when their streams are shed. Its bracket bends the wrong way.
For given time fractions the rest is a knapsack, in which all ROWS inputs but one are at their
floors or whole; so the search starts from such corners, and the best of what it finds is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.optimize.algebra.posynomial import Posynomial
from penstock.optimize.model.effort import Effort

Array = NDArray[np.float64]

NOTHING = 1e-12
"""The least fraction: what may be shed to nothing is put there if it comes as low as this."""
_FINE = 1e-4
"""The part of the tolerance in the output at which a search ends."""
_STEPS = 100
"""Steps of one search; ten to twenty are usual."""
ROUNDING = 1e-14
"""The first step back from a load that is too much by rounding."""
ALL_CORNERS = 1e-5
"""From this tolerance on plans are only ranked, for which fewer corners will do."""


@dataclass(frozen=True)
class _Sum:
    """The logarithm of a sum of products, by the logarithms of the fractions."""

    exponents: Array
    logs: Array

    def at(self, s: Array) -> tuple[float, Array]:
        """Its value and its gradient."""
        terms = self.logs + self.exponents @ s
        highest = terms.max()
        parts = np.exp(terms - highest)
        total = parts.sum()
        return float(highest + np.log(total)), parts @ self.exponents / total


def most_output(
    load: Posynomial,
    output: Posynomial,
    low: Array,
    capacity: float,
    tolerance: float,
    effort: Effort,
) -> Array | None:
    """Fractions from `low` to 1 with the most output, or None where `low` is too much.

    A local search from several corners. In random problems of up to six inputs (tests) nothing
    beats it by a millionth.
    """
    size = len(low)
    over, gain = _sum(load, size, capacity), _sum(output, size, 1.0)
    floor = np.log(np.maximum(low, NOTHING))
    if over.at(floor)[0] > 0.0:
        return None
    common = frozenset.intersection(*(m.factors for m in output))
    rows = [i for i in range(size) if i not in common]
    best, most = floor, -np.inf
    for start in _starts(over, floor, rows, is_rough=tolerance >= ALL_CORNERS):
        found = _climbed(over, gain, floor, start, _FINE * tolerance, effort)
        if (height := gain.at(found)[0]) > most:
            best, most = found, height
    return np.where((low == 0.0) & (best <= floor + 1.0), 0.0, np.exp(best))


def _sum(posynomial: Posynomial, size: int, unit: float) -> _Sum:
    exponents = np.zeros((len(posynomial), size))
    for row, monomial in enumerate(posynomial):
        exponents[row, list(monomial.factors)] = 1.0
    return _Sum(exponents, np.log([monomial.coefficient / unit for monomial in posynomial]))


def _starts(over: _Sum, floor: Array, rows: list[int], is_rough: bool) -> Iterator[Array]:
    """The ROWS inputs at corners, the others shed alike until about the capacity is needed."""
    every = frozenset(rows)
    sets = [every, frozenset(), *(frozenset({k}) for k in rows)]
    if not is_rough:
        sets += [every - {k} for k in rows]
    times = [i for i in range(len(floor)) if i not in every]
    for whole in dict.fromkeys(sets):
        start = np.zeros(len(floor))
        for k in every - whole:
            start[k] = floor[k]
        excess = over.at(start)[0]
        if times and excess > 0.0:
            start[times] -= excess / len(times)
        yield np.maximum(start, floor)


def _climbed(
    over: _Sum, gain: _Sum, floor: Array, start: Array, tolerance: float, effort: Effort
) -> Array:
    """A local optimum, by sequential quadratic programming, with all of the capacity used."""
    from scipy.optimize import minimize

    def descent(s: Array) -> tuple[float, Array]:
        height, slope = gain.at(s)
        return -height, -slope

    found = minimize(
        descent,
        start,
        jac=True,
        method="SLSQP",
        bounds=[(low, 0.0) for low in floor],
        constraints={
            "type": "ineq",
            "fun": lambda s: -over.at(s)[0],
            "jac": lambda s: -over.at(s)[1],
        },
        options={"ftol": tolerance, "maxiter": _STEPS},
    )
    effort.evaluations += int(found.nfev)
    s = found.x if np.isfinite(found.x).all() else start
    return _filled(over, floor, np.clip(s, floor, 0.0))


def _filled(over: _Sum, floor: Array, s: Array) -> Array:
    """The point moved towards the floors, or up as far as the fractions go, until the load fits."""
    excess = over.at(s)[0]
    if excess > 0.0:

        def below(share: float) -> float:
            return over.at(floor + share * (s - floor))[0]

        share = _just_below(below, 0.0, 1.0)
        return floor + share * (s - floor)

    def above(rise: float) -> float:
        return over.at(_raised(s, floor, rise))[0]

    most = float(-s.min()) or 1.0
    return _raised(s, floor, most if above(most) <= 0.0 else _just_below(above, 0.0, most))


def _raised(s: Array, floor: Array, rise: float) -> Array:
    """All fractions that are not at their floors made larger alike."""
    raised: Array = np.where(s > floor, np.minimum(s + rise, 0.0), s)
    return raised


def _just_below(excess: Callable[[float], float], low: float, high: float) -> float:
    """The last number from `low` on for which nothing is in excess."""
    from scipy.optimize import brentq

    if excess(high) <= 0.0:
        return high
    root = float(brentq(excess, low, high)) if excess(low) < 0.0 else low
    # A root is as near as rounding allows, on either side.
    step = ROUNDING
    while excess(root) > 0.0 and root > low:
        root, step = max(low, root - step), 2.0 * step
    return root
