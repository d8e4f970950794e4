"""A running mesh reckoned anew: what its routes cost by training that came after it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from penstock.adapt.training.expectation import levels_passed, operator_name, routes_taken
from penstock.optimize.estimate import needed_by
from penstock.optimize.mesh.operators import as_joined, figures_for
from penstock.optimize.mesh.plans import RUSTER
from penstock.optimize.mesh.problem import MeshProblem
from penstock.optimize.mesh.space import MeshSpace
from penstock.optimize.model.effort import Effort
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import DEFAULT_OPTIONS, PlanOptions
from penstock.optimize.propose import PlanRequest
from penstock.optimize.refine import refined
from penstock.papers.query_mesh import mesh_cost
from penstock.plan.mesh import DriverMesh, MeshJoin, Prospect
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from penstock.stats.known import Known
from penstock.stats.training import Training, operators_of


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
    return replace(mesh, prospect=_prospect(problem, mesh, training))


def _prospect(problem: Problem, mesh: DriverMesh, training: Training) -> Prospect:
    figures = figures_for(problem, training, RUSTER)
    space = MeshSpace(MeshProblem(as_joined(problem, training), figures))
    orders = [
        tuple(training.operators.index(operator_name(each)) for each in route.operators)
        for route in mesh.routes
    ]
    costs = np.column_stack([space.costs(order) for order in orders])
    taken, weights = routes_taken(mesh, training), space.problem.weights
    own = costs[np.arange(len(taken)), taken]
    shares = np.bincount(taken, weights, len(orders))
    seconds = np.bincount(taken, weights * own, len(orders)) / np.where(shares > 0, shares, 1.0)
    levels = levels_passed(mesh, training) * figures.level
    cost = mesh_cost(weights, own, levels, len(orders), figures.overhead)
    return Prospect(tuple(seconds.tolist()), cost, space.single.cost)
