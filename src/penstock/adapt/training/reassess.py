"""A running mesh reckoned anew: what its routes cost by training that came after it."""

from __future__ import annotations

from penstock.optimize.estimate import needed_by
from penstock.optimize.mesh.plans import ruster_seconds
from penstock.optimize.mesh.reckon import reckoned
from penstock.optimize.model.effort import Effort
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import DEFAULT_OPTIONS, PlanOptions
from penstock.optimize.propose import PlanRequest
from penstock.optimize.refine import refined
from penstock.plan.mesh import MeshJoin
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from penstock.stats.known import Known


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
    return reckoned(problem, plan, single, ruster_seconds(known.costs, options.engine))
