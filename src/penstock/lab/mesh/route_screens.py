"""Filters inside the routes of a mesh: a driving tuple meets them where its route has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.expressions.evaluate import holds
from penstock.engine.routes.classifying import route_numbers
from penstock.engine.rows.columns import plain_name
from penstock.lab.charges import Course
from penstock.lab.clock import OwnCosts
from penstock.lab.kernels.nested import BIRTH, Loops, Screens, Windows, no_screens
from penstock.plan.mesh import DriverMesh, MeshJoin, MeshRoute, Screen
from penstock.plan.mesh_filters import waiting
from penstock.query import Condition, Query

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


def courses_of(plan: MeshJoin, rows: Mapping[str, pa.Table]) -> dict[str, tuple[Course, ...]]:
    """The rows of each stream by their routes, with the filters that do not wait in the order of
    the route. Rows that a small ruster sends another way are charged as their own class."""
    return {
        mesh.driver: tuple(_courses(plan.query, mesh, rows[mesh.driver])) for mesh in plan.meshes
    }


def _courses(query: Query, mesh: DriverMesh, rows: pa.Table) -> Iterator[Course]:
    early = query.filters_of(mesh.driver)
    taken = route_numbers(mesh, rows)
    for number, route in enumerate(mesh.routes):
        screens = (o.condition for o in route.operators if isinstance(o, Screen))
        yield np.flatnonzero(taken == number), tuple(c for c in screens if c in early)


def screens_in(
    plan: MeshJoin, rows: Mapping[str, pa.Table], starts: Int64s, own: OwnCosts
) -> Screens:
    """The filters that wait, at their places in routes whose order is certain.

    Filters that do not wait were decided before a tuple came into its window. Where a lottery draws
    the order, those that wait are decided on results.
    """
    late = set(waiting(plan.query))
    routes = [(mesh.driver, route) for mesh in plan.meshes for route in mesh.routes]
    places = [
        (number, driver, level, conditions)
        for number, (driver, route) in enumerate(routes)
        if route.is_certain
        for level, conditions in _places(route, late)
    ]
    if not places:
        return no_screens()
    count = sum(map(len, rows.values()))
    slots = np.full((len(routes), len(plan.query.aliases)), -1, np.int32)
    passes, fees = np.ones((len(places), count), np.bool_), np.zeros((len(places), count))
    for slot, (number, driver, level, conditions) in enumerate(places):
        start = int(starts[plan.query.aliases.index(driver)])
        mine = slice(start, start + len(rows[driver]))
        slots[number, level] = slot
        passes[slot, mine], fees[slot, mine] = _decided(conditions, rows[driver], own)
    return Screens(slots, passes, fees, np.full(count, -1, np.int32))


def _places(route: MeshRoute, late: set[Condition]) -> Iterator[tuple[int, tuple[Condition, ...]]]:
    """The filters of a route by how many probes come before them."""
    found: dict[int, list[Condition]] = {}
    probes = 0
    for (operator,) in route.stages:
        if not isinstance(operator, Screen):
            probes += 1
        elif operator.condition in late:
            found.setdefault(probes, []).append(operator.condition)
    for level, conditions in found.items():
        yield level, tuple(conditions)


def _decided(
    conditions: Sequence[Condition], rows: pa.Table, own: OwnCosts
) -> tuple[Bools, Floats]:
    """Which rows pass conditions, and the seconds until that is known of each."""
    passes, fees = np.ones(len(rows), np.bool_), np.zeros(len(rows))
    for condition in conditions:
        fees += passes * own.conditions.get(str(condition), 0.0)
        held = holds(condition.expression, rows, plain_name)
        passes &= held.to_numpy(zero_copy_only=False)
    return passes, fees


def settled_by_routes(
    plan: MeshJoin, windows: Windows, loops: Loops, found: Int32s
) -> dict[str, Bools]:
    """By the text of a filter, the results that it was decided for on the way: of its own tuples,
    where their route is certain."""
    if not len(loops.screens.slots) or not len(found):
        return {}
    births = windows.rows[found, BIRTH]
    last = births.argmax(axis=1)
    driving = found[np.arange(len(found)), last]
    certain = np.array([r.is_certain for mesh in plan.meshes for r in mesh.routes])
    on_the_way = certain[loops.routes[driving]]
    aliases = plan.query.aliases
    return {
        str(condition): on_the_way & (last == aliases.index(next(iter(condition.streams))))
        for condition in waiting(plan.query)
    }
