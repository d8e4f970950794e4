"""Geometric programs: the most output that a bounded load allows, convex in logarithms."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from penstock.optimize.posynomial import Posynomial

Array = NDArray[np.float64]

# How much the barrier is weakened at each round, and Newton steps in one round: the customary
# values of interior-point methods; rounds rarely need more than ten steps.
WEAKEN = 50.0
STEPS = 60
# A Newton step that lowers the barrier function by less than this is not worth its while: the
# objective would gain that much of 1/t, beside the m/t of the barrier itself.
SETTLED = 1e-3
# A step shortened below this has met the limits of double precision.
SHORTEST = 1e-10
# A share of the way from the lower bounds to the upper that rounding makes none.
NO_ROOM = 1e-12
# Added to a unit diagonal so that rounding cannot make the matrix singular.
RIDGE = 1e-13
# The logarithm that stands for a fraction of zero: e to this is all but the least double.
NOTHING = -700.0


@dataclass(frozen=True)
class Program:
    """Maximise `weights·s + ln(offset + slopes·s)` where s is the logarithm of fractions x.

    The load, relative to the capacity, is `Σ_m exp(logs_m + exponents_m·s)` and must not exceed 1;
    `low ≤ s ≤ high`. The objective rises with every s.
    """

    exponents: Array
    logs: Array
    weights: Array
    offset: float
    slopes: Array
    low: Array
    high: Array

    def load(self, s: Array) -> float:
        """The load as a part of the capacity."""
        return float(np.exp(self.logs + self.exponents @ s).sum())


def program(load: Posynomial, low: Array, high: Array, capacity: float) -> Program:
    """The program that maximises the product of all fractions."""
    exponents = np.zeros((len(load), len(low)))
    for row, monomial in enumerate(load):
        exponents[row, list(monomial.factors)] = 1.0
    logs = np.log([monomial.coefficient / capacity for monomial in load])
    count = len(low)
    ends = (logarithm(low), logarithm(high))
    return Program(exponents, logs, np.ones(count), 1.0, np.zeros(count), *ends)


def logarithm(fractions: Array) -> Array:
    """The logarithms of fractions that may be zero."""
    return np.log(np.maximum(fractions, np.exp(NOTHING)))


def solve(task: Program, gap: float) -> Array | None:
    """Logarithms of fractions whose objective is at most `gap` below the best.

    None where the lower bounds are too much already. Newton's method on a logarithmic barrier; with
    m bounds and the barrier at 1/t the optimum is at most m/t above what is found (Boyd and
    Vandenberghe, Convex Optimization, §11.3).
    """
    if task.load(task.high) <= 1.0:
        return task.high
    if task.load(task.low) >= 1.0:
        return None
    free = task.low < task.high
    s = task.high.copy()
    s[free] = _interior_optimum(_restricted(task, free), gap)
    return s


def _restricted(task: Program, free: NDArray[np.bool_]) -> Program:
    """The program over some of the variables, the others staying at their only value."""
    fixed = np.where(free, 0.0, task.high)
    return replace(
        task,
        exponents=task.exponents[:, free],
        logs=task.logs + task.exponents @ fixed,
        weights=task.weights[free],
        offset=task.offset + float(task.slopes @ fixed),
        slopes=task.slopes[free],
        low=task.low[free],
        high=task.high[free],
    )


def _interior_optimum(task: Program, gap: float) -> Array:
    start = _inside(task)
    if start is None:
        return task.low
    s = start
    bounds = 1 + 2 * len(s)
    sharpness = 1.0
    while True:
        s = _centred(task, s, sharpness)
        if bounds / sharpness <= gap:
            return s
        sharpness *= WEAKEN


def _inside(task: Program) -> Array | None:
    """A point strictly within all bounds; None where the lower ones leave no room to speak of."""
    low, high = np.exp(task.low), np.exp(task.high)
    share = 0.5
    while task.load(np.log(low + share * (high - low))) >= 1.0:
        share /= 2
        if share < NO_ROOM:
            return None
    s: Array = np.log(low + share * (high - low))
    return s if ((s > task.low) & (s < task.high)).all() else None


def _centred(task: Program, s: Array, sharpness: float) -> Array:
    """The minimum of the barrier function, from a point near it."""
    height = _barrier(task, s, sharpness)
    for _ in range(STEPS):
        gradient, hessian = _derivatives(task, s, sharpness)
        step = -_quotient(hessian, gradient)
        descent = float(gradient @ step)
        if -descent <= SETTLED:
            break
        length = 1.0
        while (next_height := _barrier(task, s + length * step, sharpness)) > (
            height + 0.1 * length * descent
        ):
            length /= 2
            if length < SHORTEST:
                return s
        s, height = s + length * step, next_height
    return s


def _quotient(hessian: Array, gradient: Array) -> Array:
    """Newton's `H⁻¹g`; H is scaled to a diagonal of ones, as walls may be near or far."""
    scale = 1.0 / np.sqrt(np.diag(hessian))
    scaled = hessian * np.outer(scale, scale) + RIDGE * np.eye(len(scale))
    quotient: Array = scale * np.linalg.solve(scaled, scale * gradient)
    return quotient


def _barrier(task: Program, s: Array, sharpness: float) -> float:
    above, below = task.high - s, s - task.low
    if min(above.min(), below.min()) <= 0.0 or (slack := 1.0 - task.load(s)) <= 0.0:
        return np.inf
    gain = task.offset + float(task.slopes @ s)
    goal = float(task.weights @ s) + np.log(gain)
    walls = np.log(slack) + np.log(above).sum() + np.log(below).sum()
    return float(-sharpness * goal - walls)


def _derivatives(task: Program, s: Array, sharpness: float) -> tuple[Array, Array]:
    parts = np.exp(task.logs + task.exponents @ s)
    slack = 1.0 - parts.sum()
    rise = parts @ task.exponents / slack
    bend = (task.exponents.T * parts) @ task.exponents / slack + np.outer(rise, rise)
    above, below = 1.0 / (task.high - s), 1.0 / (s - task.low)
    slope = task.slopes / (task.offset + task.slopes @ s)
    gradient = -sharpness * (task.weights + slope) + rise + above - below
    hessian = bend + np.diag(above**2 + below**2) + sharpness * np.outer(slope, slope)
    return gradient, hessian
