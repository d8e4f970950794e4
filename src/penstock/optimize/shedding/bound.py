"""A bound on what a plan can yield when it is shed, from its load at one point alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from math import log

import numpy as np

from penstock.optimize.algebra.posynomial import Posynomial
from penstock.optimize.shedding.search import NOTHING, Array


def output_bound(
    load: Posynomial,
    output: Posynomial,
    point: Sequence[float],
    floors: Sequence[float],
    capacity: float,
) -> float:
    """No more results/s than these at a load of at most `capacity`, whatever is kept.

    In logarithms a load is convex, and nowhere below its tangent at the point. An output is convex
    too, so that under the tangent it is the most at a corner of what floors, 1 and the tangent
    leave: at most `2ⁿ·n` of them for n inputs, which is for few inputs only.
    """
    at, floor = (np.log(np.maximum(x, NOTHING)) for x in (point, floors))
    height, slope = _tangent(load, np.exp(at))
    spare = log(capacity) - height - float(slope @ (floor - at))
    most = 0.0
    for corners in _corners(slope * -floor, spare):
        logs = floor * (1.0 - corners)
        total = sum(m.coefficient * np.exp(logs[:, list(m.factors)].sum(axis=1)) for m in output)
        most = max(most, float(np.max(total, initial=0.0)))
    return most


def _tangent(load: Posynomial, x: Array) -> tuple[float, Array]:
    """The logarithm of a load at a point, and its slope there by the logarithms of fractions."""
    fractions = x.tolist()
    parts = [monomial.at(fractions) for monomial in load]
    slope = np.zeros(len(x))
    for monomial, part in zip(load, parts, strict=True):
        slope[list(monomial.factors)] += part / sum(parts)
    return log(sum(parts)), slope


def _corners(costs: Array, spare: float) -> Iterator[Array]:
    """The corners of a unit cube below a plane, and where the plane cuts its edges."""
    cube = _cube(len(costs))
    needed = cube @ costs
    yield cube[needed <= spare]
    for i, cost in enumerate(costs.tolist()):
        if cost > 0.0:
            part = (spare - needed) / cost
            cut = (cube[:, i] == 0.0) & (part > 0.0) & (part < 1.0)
            corners = cube[cut]
            corners[:, i] = part[cut]
            yield corners


@cache
def _cube(size: int) -> Array:
    """The corners of a unit cube."""
    bits = np.arange(1 << size)[:, None] >> np.arange(size) & 1
    return bits.astype(np.float64)
