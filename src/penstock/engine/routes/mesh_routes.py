"""Mesh routes: the routes of a query mesh as legs, one route for each ruster that differs."""

from __future__ import annotations

from collections.abc import Collection

from penstock.engine.routes.mesh_validation import check_fit
from penstock.engine.routes.multiway_routes import Leg, Path, Route, Routing, legs_of
from penstock.engine.routes.rusters import Rusters
from penstock.engine.rows.layout import Layout
from penstock.plan.mesh import DriverMesh, MeshJoin, MeshRoute, Screen
from penstock.plan.multiway import Probe
from penstock.query import Condition


def mesh_routing(plan: MeshJoin, layout: Layout, watched: Collection[str] = ()) -> Routing:
    """The routes of every stream; those of `watched` drivers are all told apart.

    The stages of uncertain routes are taken in the order in which they are written.
    """
    check_fit(plan)
    routes: list[Route] = []
    rusters: list[Rusters] = []
    for mesh in plan.meshes:
        mine, sorts = _driver(mesh, layout, is_watched=mesh.driver in watched)
        routes += mine
        rusters.append(sorts)
    return Routing(tuple(routes), rusters=tuple(rusters))


def _driver(
    mesh: DriverMesh, layout: Layout, *, is_watched: bool
) -> tuple[tuple[Route, ...], Rusters]:
    filters = layout.query.filters_of(mesh.driver)
    legs: list[tuple[Leg, ...]] = []
    ways: list[int] = []
    leading: list[tuple[Condition, ...]] = []
    for route in mesh.routes:
        first, path = _split(mesh.driver, route, filters)
        mine = legs_of(path, layout)
        # What is learned of a route must not be mixed with what another does.
        if is_watched or mine not in legs:
            legs.append(mine)
        ways.append(len(legs) - 1 if is_watched else legs.index(mine))
        leading.append(first)
    routes = tuple(
        Route(
            mesh.driver,
            mine,
            ruster=number if len(legs) > 1 else None,
            number=ways.index(number),
        )
        for number, mine in enumerate(legs)
    )
    return routes, Rusters(mesh, tuple(leading), tuple(ways))


def _split(
    driver: str, route: MeshRoute, filters: Collection[Condition]
) -> tuple[tuple[Condition, ...], Path]:
    """The filters that come before all probes, and the rest of a route.

    State has been thinned out by `filters`: wherever they stand in the route, they come first.
    """
    probes: list[Probe] = []
    leading: list[Condition] = []
    screens: dict[Condition, int] = {}
    for operator in route.operators:
        match operator:
            case Probe():
                probes.append(operator)
            case Screen(condition):
                screens[condition] = -1 if condition in filters else len(probes) - 1
                if screens[condition] < 0:
                    leading.append(condition)
    return tuple(leading), Path(driver, tuple(probes), screens)
