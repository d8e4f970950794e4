"""Multi-way joins that stand for plans of other kinds, where one probe order a stream is asked."""

from __future__ import annotations

from typing import assert_never

from penstock.plan.default_plan import default_plan
from penstock.plan.mesh import Eddy, MeshJoin, MeshRoute
from penstock.plan.multiway import MultiwayJoin, Probe, ProbeOrder


def representative(plan: MultiwayJoin | MeshJoin | Eddy) -> MultiwayJoin:
    """The plan with one order for each stream: of a mesh the route that the most tuples take, of an
    eddy, which has none before it runs, FROM's."""
    match plan:
        case MultiwayJoin():
            return plan
        case MeshJoin():
            orders = tuple(probe_order(mesh.driver, mesh.main) for mesh in plan.meshes)
            return MultiwayJoin(plan.query, orders, plan.drops, plan.early)
        case Eddy():
            orders = default_plan(plan.query).orders
            return MultiwayJoin(plan.query, orders, plan.drops, plan.early)
        case _:
            assert_never(plan)


def probe_order(driver: str, route: MeshRoute) -> ProbeOrder:
    """The probes of a route, without its filters."""
    return ProbeOrder(driver, tuple(o for o in route.operators if isinstance(o, Probe)))
