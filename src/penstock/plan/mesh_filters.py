"""Filters that wait for the joins, and those that the routes of a mesh make wait."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from penstock.plan.mesh import DriverMesh, MeshRoute, Screen
from penstock.plan.multiway import Probe
from penstock.query import Condition, Query


def waiting(query: Query) -> tuple[Condition, ...]:
    """The filters that wait for the joins."""
    return tuple(theta for theta in query.thetas if len(theta.streams) == 1)


def with_waiting(query: Query, late: Iterable[Condition]) -> Query:
    """The query with these filters waiting, and all others before the joins."""
    late = tuple(late)
    every = (*query.filters, *waiting(query))
    return replace(
        query,
        filters=tuple(c for c in every if c not in late),
        thetas=(*(theta for theta in query.thetas if len(theta.streams) > 1), *late),
    )


def placed(query: Query, meshes: Iterable[DriverMesh]) -> Query:
    """The query with the filters waiting that come after a probe in some route, and those of tables
    that wait anyway."""
    tables = {item.alias for item in query.inputs if item.is_table}
    late = [c for c in waiting(query) if c.streams <= tables]
    for mesh in meshes:
        late += dict.fromkeys(c for route in mesh.routes for c in _after_probes(route))
    return with_waiting(query, late)


def _after_probes(route: MeshRoute) -> Iterator[Condition]:
    is_probed = False
    for stage in route.stages:
        is_probed = is_probed or any(isinstance(o, Probe) for o in stage)
        if is_probed:
            yield from (o.condition for o in stage if isinstance(o, Screen))
