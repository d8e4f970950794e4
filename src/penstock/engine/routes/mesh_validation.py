"""Whether a mesh fits its query: every route must do all that the query asks, once."""

from __future__ import annotations

from collections import Counter

from penstock.errors import PlanError
from penstock.plan.mesh import DriverMesh, Fork, Goes, MeshJoin, MeshRoute, Screen, splits
from penstock.plan.multiway import Probe
from penstock.query import DataType, Query


def check_fit(plan: MeshJoin) -> None:
    """Refuse a mesh that would give other results than the query asks for, or that cannot run."""
    query = plan.query
    drivers = Counter(mesh.driver for mesh in plan.meshes)
    if drivers != Counter(item.alias for item in query.streams):
        raise PlanError(
            f"the plan has meshes of {', '.join(sorted(drivers.elements())) or 'no stream'}",
            hint="every stream of the query needs one mesh, if only of one route",
        )
    for mesh in plan.meshes:
        _check_classifier(query, mesh)
        for number, route in enumerate(mesh.routes):
            _check_route(query, mesh.driver, number, route)


def _check_classifier(query: Query, mesh: DriverMesh) -> None:
    source = query.input(mesh.driver).source
    for split in splits(mesh.classifier):
        found = source.field(split.attribute)
        if found is None or not found.type.is_telling:
            has = "does not have" if found is None else f"has as {found.type}"
            raise PlanError(
                f"the classifier of {mesh.driver} looks at {split.attribute}, which "
                f"{source.name} {has}",
                hint=f"its columns are {', '.join(source.telling)}",
            )
        if (split.limit is None) != (found.type is DataType.STRING):
            kind = "a text" if split.limit is None else "a number"
            raise PlanError(
                f"the classifier of {mesh.driver} tests {split.attribute} as {kind}, "
                f"but it is {found.type}",
                hint="train the mesh anew: penstock analyze",
            )
    missing = _leaves(mesh.classifier) - set(range(len(mesh.routes)))
    if missing:
        raise PlanError(
            f"the classifier of {mesh.driver} sends tuples to route {min(missing)}, but there are "
            f"{len(mesh.routes)} routes",
            hint="routes are counted from 0",
        )


def _leaves(fork: Fork) -> set[int]:
    if isinstance(fork, Goes):
        return {fork.route}
    return _leaves(fork.passed) | _leaves(fork.failed)


def _check_route(query: Query, driver: str, number: int, route: MeshRoute) -> None:
    mine = {str(c) for c in (*query.filters, *query.thetas) if c.streams == {driver}}
    wanted = Counter([*(alias for alias in query.aliases if alias != driver), *sorted(mine)])
    found = Counter(_name(operator) for operator in route.operators)
    if found == wanted:
        return
    missing, extra = wanted - found, found - wanted
    what = f"leaves out {next(iter(missing))}" if missing else f"has {next(iter(extra))} too many"
    raise PlanError(
        f"route {number} of {driver} {what}",
        hint="a route holds every filter of its stream and a probe of every other input, once",
    )


def _name(operator: Probe | Screen) -> str:
    return operator.target if isinstance(operator, Probe) else str(operator.condition)
