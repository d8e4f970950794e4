"""A running mesh reckoned anew: what its routes cost by training that came after it."""

from __future__ import annotations

from dataclasses import replace

from penstock.optimize.estimate import needed_by
from penstock.optimize.mesh.plans import RUSTER
from penstock.optimize.mesh.reckon import prospect_by
from penstock.optimize.model.effort import Effort
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import DEFAULT_OPTIONS, PlanOptions
from penstock.optimize.propose import PlanRequest
from penstock.optimize.refine import refined
from penstock.plan.mesh import DriverMesh, MeshJoin
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from penstock.stats.known import Known
from penstock.stats.training import operators_of


def reassessed(plan: Plan, known: Known, options: PlanOptions = DEFAULT_OPTIONS) -> Plan:
    """The running plan as its work is reckoned by what is known now.

    A mesh gets the prospects that its routes have by the training of now, and the multi-way join
    that new meshes are weighed against: a stale one costs more than that. Others stay as they are.
    """
    if not isinstance(plan, MeshJoin):
        return plan
    known = refined(known, options, Effort())
    problem = Problem(known.query, known)
    joins = [p for p, _ in PlanRequest(problem, options).multiway if isinstance(p, MultiwayJoin)]
    single = min(joins, key=lambda each: needed_by(problem, each))
    meshes = tuple(_reassessed(problem, mesh) for mesh in plan.meshes)
    return replace(plan, meshes=meshes, single=single)


def _reassessed(problem: Problem, mesh: DriverMesh) -> DriverMesh:
    training = problem.known.training.get(mesh.driver)
    names = set(operators_of(problem.query, mesh.driver))
    if training is None or set(training.operators) != names or len(mesh.routes) < 2:
        return mesh
    return replace(mesh, prospect=prospect_by(problem, mesh, training, RUSTER))
