"""Unit costs from measured runs: what each kind of work takes, so that the planner's load is right.

The load of a plan is linear in the unit costs, so that they follow from runs by least squares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import nnls

from penstock.optimize.estimate import needed_by
from penstock.optimize.problem import Problem
from penstock.plan.plan import Plan
from penstock.stats.costs import Costs

Unit = Mapping[str, float]
"""Kinds of costs in fixed proportions, which are fitted as one."""

# A tuple that is put into a window leaves it later: no workload has one without the other. The
# proportions are those of the default costs.
WINDOW: Unit = {"insert": 2 / 3, "expire": 1 / 3}


@dataclass(frozen=True)
class Run:
    """A plan that took `busy` seconds for `seconds` of event time, in so many batches."""

    problem: Problem
    plan: Plan
    seconds: float
    busy: float
    batches: int = 0


@dataclass(frozen=True)
class Fit:
    """Unit costs, and the relative error of each run that they were fitted to."""

    costs: Costs
    errors: tuple[float, ...]

    @property
    def median_error(self) -> float:
        return float(np.median(np.abs(self.errors)))


def fit(runs: Sequence[Run], units: Sequence[Unit]) -> Fit:
    """The costs, none below zero, with the least sum of squared relative errors."""
    amounts = np.array([[_amount(run, unit) for unit in units] for run in runs])
    measured = np.array([run.busy for run in runs])
    shares, _ = nnls(amounts / measured[:, None], np.ones(len(runs)))
    kinds: dict[str, float] = {}
    for unit, seconds in zip(units, shares.tolist(), strict=True):
        for kind, part in unit.items():
            kinds[kind] = kinds.get(kind, 0.0) + part * seconds
    errors = amounts @ shares / measured - 1.0
    return Fit(Costs("measured", **kinds), tuple(errors.tolist()))


def _amount(run: Run, unit: Unit) -> float:
    """How often a run does what has a unit's cost."""
    known = replace(run.problem.known, costs=Costs("measured", **unit))
    steady = run.seconds * needed_by(Problem(run.problem.query, known), run.plan)
    return steady + run.batches * unit.get("batch", 0.0)
