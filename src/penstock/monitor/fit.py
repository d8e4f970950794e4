"""Unit costs from measured runs: what each kind of work takes, so that the planner's load is right.

The load of a plan is linear in the unit costs, so that they follow from runs by least squares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from penstock.optimize.estimate import needed_by
from penstock.optimize.problem import Problem
from penstock.plan.plan import Plan
from penstock.stats.costs import Costs
from penstock.stats.guess import DEFAULT_COSTS

Floats = NDArray[np.float64]

Unit = Mapping[str, float]
"""Kinds of costs in fixed proportions, which are fitted as one."""

# Kinds that the runs cannot tell apart are drawn to the proportions of the default costs: a cost
# that is twice or nothing of its default counts like one run that is off by this part.
PULL = 0.02

# A tuple that is put into a window leaves it later: no workload has one without the other. The
# proportions are those of the default costs.
WINDOW: Unit = {"insert": 2 / 3, "expire": 1 / 3}


@dataclass(frozen=True)
class Run:
    """A plan that took `busy` seconds for `seconds` of event time, in batches with rounds."""

    problem: Problem
    plan: Plan
    seconds: float
    busy: float
    batches: int = 0
    rounds: int = 0


@dataclass(frozen=True)
class Fit:
    """Unit costs, and the relative error of each run that they were fitted to."""

    costs: Costs
    errors: tuple[float, ...]

    @property
    def median_error(self) -> float:
        return float(np.median(np.abs(self.errors)))


def fit(
    runs: Sequence[Run], units: Sequence[Unit], pull: float = PULL, least: Sequence[float] = ()
) -> Fit:
    """The costs with the least sum of squared relative errors; none below zero, or `least`."""
    amounts = np.array([[_amount(run, unit) for unit in units] for run in runs])
    measured = np.array([run.busy for run in runs])
    relative = amounts / measured[:, None]
    pulls = pull * _pulls(relative, units)
    targets = np.concatenate([np.ones(len(runs)), np.where(pulls.any(axis=1), pull, 0.0)])
    floor = np.array(least or [0.0] * len(units))
    # In nanoseconds and such the columns are of one size, which the solver needs to be precise.
    sizes = np.linalg.norm(relative, axis=0)
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    scaled = np.concatenate([relative, pulls]) / sizes
    found = lsq_linear(scaled, targets, bounds=(floor * sizes, np.inf), method="bvls")
    shares = found.x / sizes
    kinds: dict[str, float] = {}
    for unit, seconds in zip(units, shares.tolist(), strict=True):
        for kind, part in unit.items():
            kinds[kind] = kinds.get(kind, 0.0) + part * seconds
    errors = amounts @ shares / measured - 1.0
    return Fit(Costs("measured", **kinds), tuple(errors.tolist()))


def _pulls(relative: Floats, units: Sequence[Unit]) -> Floats:
    """A row for each unit that has a default: its cost over the default one.

    Defaults are scaled to what explains the runs best, since only their proportions count.
    """
    usual = np.array([sum(getattr(DEFAULT_COSTS, kind) for kind in unit) for unit in units])
    together = relative @ usual
    scale = together.sum() / (together @ together)
    has_default = usual > 0.0
    rows: Floats = np.diag(1.0 / np.where(has_default, scale * usual, np.inf))
    return rows


def _amount(run: Run, unit: Unit) -> float:
    """How often a run does what has a unit's cost."""
    nothing: Unit = {"fold": 0.0, "tally": 0.0}
    known = replace(run.problem.known, costs=Costs("measured", **{**nothing, **unit}))
    steady = run.seconds * needed_by(Problem(run.problem.query, known), run.plan)
    return steady + run.batches * unit.get("batch", 0.0) + run.rounds * unit.get("round", 0.0)
