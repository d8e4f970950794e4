"""Rivals on the simulated clock: the work of the join, and what deciding about routes takes.

A piece of work is an insertion, a bucket looked up or a row looked at: a unit each. A test of a
classifier looks at one number that is at hand, and so does an eddy's router for each operator that
it may turn to: a tenth of a unit. That is an assumption, which keeps the charges of the two alike.
"""

from __future__ import annotations

from dataclasses import dataclass

from penstock.experiments.query_mesh.ten_way import BATCHED, EDDY, Contest
from penstock.lab.clock import ClockCosts, SimulatedClock
from penstock.lab.laboratory import Outcome, run
from penstock.lab.schedule import Eager
from penstock.plan.mesh import Fork, Goes, MeshJoin
from penstock.plan.plan import Plan

TEST = 0.1
"""Units for a test of the classifier, and for one operator that an eddy's router considers."""
_BATCH = 100


@dataclass(frozen=True)
class Charged:
    """A run on a clock on which a unit of work takes so many seconds."""

    outcome: Outcome
    unit: float

    @property
    def units(self) -> float:
        """All the work."""
        return self.outcome.busy / self.unit

    @property
    def rate(self) -> float:
        """Results for a unit of work: the output rate of one who is always busy."""
        return len(self.outcome.results) / self.units


def charged(rival: str, contest: Contest, unit: float = 1e-6) -> Charged:
    """Run a rival’s plan tuple by tuple."""
    return charged_plan(contest.plans[rival], contest, unit, _hop(rival, contest))


def charged_plan(plan: Plan, contest: Contest, unit: float = 1e-6, hop: float = 0.0) -> Charged:
    """Run a plan tuple by tuple; every probe takes `hop` units more."""
    costs = ClockCosts(
        tuples=unit * TEST * _levels(plan),
        inserts=unit,
        probes=unit * (1.0 + hop),
        compares=unit,
    )
    clock = SimulatedClock(costs)
    return Charged(run(plan, contest.tuples, Eager(), clock=clock), unit)


def _hop(rival: str, contest: Contest) -> float:
    """Units of an eddy's decision: half of the operators are left on average.

    In batches one decision is for a hundred tuples (QM §6.2).
    """
    decision = TEST * (len(contest.tuples) - 1) / 2
    return {EDDY: decision, BATCHED: decision / _BATCH}.get(rival, 0.0)


def _levels(plan: Plan) -> float:
    """Tests that a tuple takes: the kernel goes as deep as the tree of its stream does."""
    if not isinstance(plan, MeshJoin):
        return 0.0
    return sum(_depth(mesh.classifier) for mesh in plan.meshes) / len(plan.meshes)


def _depth(node: Fork) -> int:
    return 0 if isinstance(node, Goes) else 1 + max(_depth(node.passed), _depth(node.failed))
