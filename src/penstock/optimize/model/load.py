"""The load of a plan of any kind: seconds of work a second, by the fractions kept of the inputs."""

from __future__ import annotations

from typing import assert_never

from penstock.optimize.algebra.posynomial import Posynomial
from penstock.optimize.model.load_of_mesh import mesh_load
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.recompute import recompute_load
from penstock.optimize.model.rows_view import rows_view_load
from penstock.optimize.model.work import join_load
from penstock.plan.mesh import Eddy, MeshJoin
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from penstock.plan.representative import representative
from penstock.plan.tree import TreeJoin


def load_of(problem: Problem, plan: Plan) -> Posynomial:
    """The load of a plan; the problem's inputs are folded as the plan's early ones are."""
    if problem.query.view is not None and problem.query.is_sequenced:
        joined = plan if isinstance(plan, TreeJoin) else representative(plan)
        return rows_view_load(problem, joined)
    match plan:
        case MultiwayJoin(recompute=str() as driver):
            return recompute_load(problem, plan, driver)
        case MeshJoin():
            return mesh_load(problem, plan)
        case MultiwayJoin() | TreeJoin() | Eddy():
            return join_load(problem, plan)
        case _:
            assert_never(plan)
