"""Unit costs from measured runs: what each kind of work takes, so that the planner's load is right.

The load of a plan is linear in the unit costs, so that they follow from runs by least squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from penstock.calibration.unit import Unit
from penstock.optimize.estimate import needed_by
from penstock.optimize.model.problem import Problem
from penstock.plan.plan import Plan
from penstock.stats.costs import Costs

Floats = NDArray[np.float64]

# Kinds that the runs cannot tell apart are drawn to their usual proportions: a cost that is twice
# or nothing of its usual one counts like one run that is off by this part. That is how far runs are
# off, and the costs of machines differ in proportion by a factor of about two.
PULL = 0.1

# Where the runs show nothing of a cost they only say that it is small: least squares without bounds
# gives less than nothing then, and with a bound of zero zero, or what rounding leaves of it. So no
# cost is below this part of its usual one.
FLOOR = 0.05


@dataclass(frozen=True)
class MeasuredRun:
    """A plan that took `busy` seconds for `seconds` of event time, in batches with rounds."""

    problem: Problem
    plan: Plan
    seconds: float
    busy: float
    batches: int = 0
    rounds: int = 0


@dataclass(frozen=True)
class Fit:
    """Unit costs, and the relative error of each run that they were fitted to.

    `explained` is the part of the runs' differences that the costs explain (R², of relative
    errors): none if one figure for all runs does as well. Of the kinds that are `floored` the runs
    show less than is plausible, so that they have the least that is.
    """

    costs: Costs
    errors: tuple[float, ...]
    explained: float
    floored: tuple[str, ...] = ()

    @property
    def median_error(self) -> float:
        return float(np.median(np.abs(self.errors)))


def fit(
    runs: Sequence[MeasuredRun], units: Sequence[Unit], pull: float = PULL, floor: float = FLOOR
) -> Fit:
    """The costs with the least sum of squared relative errors, none below its floor."""
    amounts = np.array([[_amount(run, unit) for unit in units] for run in runs])
    measured = np.array([run.busy for run in runs])
    relative = amounts / measured[:, None]
    usual = _usual(relative, units)
    # As parts of the usual the columns are of one size, which the solver needs to be precise.
    scaled = np.concatenate([relative * usual, pull * np.eye(len(units))])
    targets = np.concatenate([np.ones(len(runs)), np.full(len(units), pull)])
    least = np.maximum(floor, np.array([unit.least for unit in units]) / usual)
    found = lsq_linear(scaled, targets, bounds=(least, np.inf), method="bvls").x
    kinds: dict[str, float] = {}
    for unit, share in zip(units, (found * usual).tolist(), strict=True):
        for kind, part in unit.parts.items():
            kinds[kind] = kinds.get(kind, 0.0) + part * share
    errors = relative @ (found * usual) - 1.0
    floored = (unit for unit, share in zip(units, found, strict=True) if share <= floor * 1.001)
    return Fit(
        Costs("measured", **kinds),
        tuple(errors.tolist()),
        _explained(errors, measured),
        tuple(kind for unit in floored for kind in unit.parts),
    )


def _usual(relative: Floats, units: Sequence[Unit]) -> Floats:
    """The usual amounts of the units, at the speed of the machine: that which explains most."""
    usual: Floats = np.array([unit.usual for unit in units])
    together = relative @ usual
    scale = float(together.sum() / (together @ together))
    return scale * usual


def _explained(errors: Floats, measured: Floats) -> float:
    weights = 1.0 / measured
    alike = weights * weights.sum() / (weights @ weights) - 1.0
    return float(1.0 - (errors @ errors) / max(alike @ alike, np.finfo(float).tiny))


def _amount(run: MeasuredRun, unit: Unit) -> float:
    """How often a run does what has a unit's cost."""
    parts = {"fold": 0.0, "tally": 0.0, **unit.parts}
    known = replace(run.problem.known, costs=Costs("measured", **parts))
    steady = run.seconds * needed_by(Problem(run.problem.query, known), run.plan)
    return steady + run.batches * parts.get("batch", 0.0) + run.rounds * parts.get("round", 0.0)
