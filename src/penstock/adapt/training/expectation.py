"""What a mesh was trained to expect: rows out for one in, by route and operator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np

from penstock.optimize.mesh.reckon import operator_name, routes_taken
from penstock.plan.mesh import DriverMesh, MeshJoin, MeshRoute, Operator, Screen
from penstock.plan.multiway import Probe
from penstock.stats.training import Training

_TRIED = 1_000
"""Tuples that training is by."""


@dataclass(frozen=True)
class Expected:
    """Rows out for one in, as they are expected, and the standard error of their logarithm."""

    rows: float
    error: float


Yields = Mapping[tuple[int, str], Expected]
"""What is expected, by a route's number and an operator's name."""


def log_error(went_in: float, came_out: float, *, is_filter: bool) -> float:
    """The standard error of the logarithm of rows out for one in.

    Rows of a filter are binomial; those of a probe vary more, for a tuple finds several at once.
    """
    went_in, rows = max(went_in, 1.0), max(came_out, 0.5)
    if is_filter:
        return sqrt(max(1.0 - rows / went_in, 0.0) / rows + 1.0 / went_in)
    return sqrt(1.0 / rows + (rows / went_in + 1.0) / went_in)


def expected_yields(plan: MeshJoin, mesh: DriverMesh, training: Training) -> Yields:
    """The rows out for one in, by a route's number and an operator's name, as reports have them.

    Filters before all probes are told by route; the rest of routes that differ in those filters
    alone is told under the number of the first of them.
    """
    taken = routes_taken(mesh, training)
    weights, yields = np.array(training.weights), np.array(training.yields)
    went_in: dict[tuple[int, str], float] = {}
    came_out: dict[tuple[int, str], float] = {}
    for number, (route, way) in enumerate(zip(mesh.routes, _ways(plan, mesh), strict=True)):
        rows = weights * (taken == number)
        leading, rest = _parts(plan, mesh.driver, route)
        ordered = [*((number, each) for each in leading), *((way, each) for each in rest)]
        for told_as, operator in ordered:
            name = operator_name(operator)
            if name not in training.operators:
                continue
            key = (told_as, name)
            went_in[key] = went_in.get(key, 0.0) + float(rows.sum())
            rows = rows * yields[:, training.operators.index(name)]
            came_out[key] = came_out.get(key, 0.0) + float(rows.sum())
    return {
        key: Expected(
            came_out[key] / rows,
            log_error(
                _TRIED * rows, _TRIED * came_out[key], is_filter=key[1] not in plan.query.aliases
            ),
        )
        for key, rows in went_in.items()
        if rows > 0.0
    }


def _ways(plan: MeshJoin, mesh: DriverMesh) -> Iterator[int]:
    """The number under which the probes of each route are told (`engine.routes.mesh_routes`)."""
    is_told_apart = not all(route.is_certain for route in mesh.routes)
    rests = [_parts(plan, mesh.driver, route)[1] for route in mesh.routes]
    for number, rest in enumerate(rests):
        yield number if is_told_apart else rests.index(rest)


def _parts(
    plan: MeshJoin, driver: str, route: MeshRoute
) -> tuple[tuple[Operator, ...], tuple[Operator, ...]]:
    """The filters that come before all probes, and the rest of a route."""
    early = plan.query.filters_of(driver)
    leading: list[Operator] = []
    rest: list[Operator] = []
    for operator in route.operators:
        comes_first = isinstance(operator, Screen) and (not rest or operator.condition in early)
        (leading if comes_first else rest).append(operator)
    assert not rest or isinstance(rest[0], Probe)
    return tuple(leading), tuple(rest)
