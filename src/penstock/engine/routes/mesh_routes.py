"""Mesh routes: the routes of a query mesh as legs, one route for each ruster that differs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from zlib import crc32

from penstock.engine.routes.mesh_validation import check_fit
from penstock.engine.routes.multiway_routes import (
    Leg,
    Path,
    Route,
    Routing,
    legs_of,
    multiway_routing,
)
from penstock.engine.routes.rusters import Rusters, Way
from penstock.engine.rows.layout import Layout
from penstock.plan.mesh import DriverMesh, MeshJoin, MeshRoute, Screen
from penstock.plan.multiway import Probe
from penstock.plan.representative import representative
from penstock.plan.text.mesh_text import fork_text, stage_texts
from penstock.query import Condition

Draws = Mapping[str, tuple[tuple[MeshRoute, ...], ...]]
"""By driver and route, the orders that were drawn for a batch."""


def mesh_routing(plan: MeshJoin, layout: Layout, draws: Draws | None = None) -> Routing:
    """The routes of every stream; those of drivers with draws are all told apart.

    Without draws the stages of uncertain routes are taken in the order in which they are written. A
    view over ROWS windows is joined anew in each batch, and what is kept has no rusters: there all
    of a stream takes its main route.
    """
    check_fit(plan)
    query = layout.query
    if query.view is not None and query.is_sequenced:
        return multiway_routing(representative(plan), layout)
    drivers = [_Driver(plan, mesh, layout, (draws or {}).get(mesh.driver)) for mesh in plan.meshes]
    rusters = tuple(driver.rusters() for driver in drivers)
    routes = tuple(route for driver in drivers for route in driver.routes())
    return Routing(routes, rusters=rusters)


@dataclass
class _Driver:
    """The ways of one stream; `legs` are those that differ, each with the route it belongs to."""

    plan: MeshJoin
    mesh: DriverMesh
    layout: Layout
    drawn: tuple[tuple[MeshRoute, ...], ...] | None
    legs: list[tuple[int | None, tuple[Leg, ...]]] = field(default_factory=list)

    @property
    def filters(self) -> Collection[Condition]:
        return self.layout.query.filters_of(self.mesh.driver)

    @property
    def waits(self) -> bool:
        """Whether tuples wait between packing and probing."""
        return self.layout.query.is_sequenced

    def rusters(self) -> Rusters:
        ways: list[Way] = []
        pools: list[tuple[int, ...]] = []
        for number, route in enumerate(self.mesh.routes):
            pool = []
            for order in (route,) if self.drawn is None else self.drawn[number]:
                way = self._way(number, route, order)
                if way not in ways:
                    ways.append(way)
                pool.append(ways.index(way))
            pools.append(tuple(pool))
        found = Rusters(self.mesh, tuple(ways), tuple(pools), self.plan.window, self.plan.ruster)
        if not self.waits:
            return found
        stale = self._ruster(self.mesh.routes.index(self.mesh.main), self._stale())
        return replace(found, stamp=self._stamp(), stale=stale)

    def routes(self) -> Iterator[Route]:
        """The routes of all rusters that `rusters` has numbered."""
        several = len(self.legs) > 1
        for ruster, (number, legs) in enumerate(self.legs):
            yield Route(
                self.mesh.driver, legs, ruster=ruster if several else None, number=number or 0
            )

    def _way(self, number: int, route: MeshRoute, order: MeshRoute) -> Way:
        certain = self._certain(route) if self.waits else None
        leading, path = _split(self.mesh.driver, order, self.filters, certain)
        return Way(number, leading, self._ruster(number, path))

    def _ruster(self, number: int, path: Path) -> int:
        """The number of a path's ruster: that of one with the same legs, if there is one. What is
        learned of a route must not be mixed with what another does."""
        legs = legs_of(path, self.layout)
        for ruster, (owner, known) in enumerate(self.legs):
            if known == legs and (self.drawn is None or owner == number):
                return ruster
        self.legs.append((number, legs))
        return len(self.legs) - 1

    def _stale(self) -> Path:
        """The way of tuples of which nothing is known: the main route, all filters checked."""
        _, path = _split(self.mesh.driver, self.mesh.main, self.filters, frozenset())
        return path

    def _certain(self, route: MeshRoute) -> frozenset[Condition]:
        """The filters that come before all probes, however the stages are drawn."""
        found: list[Condition] = []
        for stage in route.stages:
            if any(isinstance(operator, Probe) for operator in stage):
                break
            found += [operator.condition for operator in stage if isinstance(operator, Screen)]
        return frozenset(found)

    def _stamp(self) -> int:
        """A number that meshes share only if they decide the same filters for the same tuples."""
        routes = [" ".join(stage_texts(route)) for route in self.mesh.routes]
        texts = (fork_text(self.mesh.classifier), *routes, *map(str, self.filters))
        return crc32("\n".join(texts).encode())


def _split(
    driver: str,
    route: MeshRoute,
    filters: Collection[Condition],
    certain: frozenset[Condition] | None,
) -> tuple[tuple[Condition, ...], Path]:
    """The filters that come before all probes, and the rest of a route.

    State has been thinned out by `filters`: wherever they stand in the route, they come first. Of
    the others those do that stand before all probes; if `certain` is given, only those in it, and
    the rest after the first probe at the earliest.
    """
    probes: list[Probe] = []
    leading: list[Condition] = []
    screens: dict[Condition, int] = {}
    for operator in route.operators:
        match operator:
            case Probe():
                probes.append(operator)
            case Screen(condition):
                place = len(probes) - 1
                if certain is not None and condition not in certain:
                    place = max(place, 0)
                screens[condition] = -1 if condition in filters else place
                if screens[condition] < 0:
                    leading.append(condition)
    return tuple(leading), Path(driver, tuple(probes), screens)
