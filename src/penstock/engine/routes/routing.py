"""Routing: any plan as routes for the steps of the batch engines."""

from __future__ import annotations

from typing import assert_never

from penstock.engine.routes.asking.asking_routes import with_asking_routes
from penstock.engine.routes.mesh_routes import Draws, mesh_routing
from penstock.engine.routes.multiway_routes import Routing, multiway_routing
from penstock.engine.routes.outer_refusals import refuse_for_outer_join
from penstock.engine.routes.tree_routes import tree_routing
from penstock.engine.rows.layout import Layout
from penstock.errors import PlanError
from penstock.plan.default_plan import default_plan
from penstock.plan.mesh import Eddy, MeshJoin
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from penstock.plan.tree import TreeJoin


def routing_of(plan: Plan, layout: Layout, draws: Draws | None = None) -> Routing:
    """The routes, inner joins and screeners that the steps follow, whatever the plan.

    `draws` are the orders of uncertain routes of a mesh.
    """
    refuse_for_outer_join(plan)
    return with_asking_routes(_routing(plan, layout, draws), layout)


def _routing(plan: Plan, layout: Layout, draws: Draws | None) -> Routing:
    match plan:
        case MultiwayJoin():
            return multiway_routing(plan, layout)
        case TreeJoin():
            return tree_routing(plan, layout)
        case MeshJoin():
            return mesh_routing(plan, layout, draws)
        case Eddy():
            return _eddy_routing(plan, layout)
        case _:
            assert_never(plan)


def _eddy_routing(plan: Eddy, layout: Layout) -> Routing:
    """The routes of a batch in which an eddy decides nothing: filters are its own when tuples are
    packed, and of more than two inputs a batch has the routes that it has learned."""
    if plan.early:
        raise PlanError(
            f"the eddy aggregates {', '.join(plan.early)} early",
            hint="only multi-way joins and trees aggregate before they join",
        )
    if plan.batch < 1:
        raise PlanError(
            f"an eddy cannot decide for {plan.batch} tuples at once",
            hint="--plan eddy decides for each tuple, --plan eddy:100 for a hundred",
        )
    return multiway_routing(default_plan(plan.query), layout)
