"""What a mesh that is there costs by training that it was not made by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from penstock.optimize.mesh.operators import as_joined, assumed, figures_for
from penstock.optimize.mesh.problem import MeshProblem, Route
from penstock.optimize.mesh.space import MeshSpace
from penstock.optimize.model.problem import Problem
from penstock.papers.query_mesh import Floats, mesh_cost
from penstock.plan.mesh import DriverMesh, Fork, MeshJoin, Operator, Prospect, Screen, Split
from penstock.plan.mesh_filters import waiting
from penstock.plan.multiway import MultiwayJoin
from penstock.stats.training import Training, Value


def reckoned(problem: Problem, plan: MeshJoin, single: MultiwayJoin, ruster: float) -> MeshJoin:
    """A mesh with the prospects that its routes have by the training of now, and the multi-way join
    that it is weighed against."""
    meshes = tuple(_reckoned(problem, mesh, single, ruster) for mesh in plan.meshes)
    return replace(plan, meshes=meshes, single=single)


def _reckoned(
    problem: Problem, mesh: DriverMesh, single: MultiwayJoin, ruster: float
) -> DriverMesh:
    instead = multiway_route(problem, single, mesh.driver)
    if [operator_name(o) for route in mesh.routes for o in route.operators] == instead:
        return mesh
    training = problem.known.training.get(mesh.driver)
    if training is not None and set(training.operators) == set(instead):
        taken = routes_taken(mesh, training)
    else:
        # Nothing tells tuples apart: each route has its share of such as all are.
        training = assumed(problem, mesh.driver, mesh.shares)
        taken = np.arange(len(mesh.routes))
    found = _prospect(_space(problem, training, ruster), mesh, taken, instead)
    return replace(mesh, prospect=found)


def multiway_route(problem: Problem, single: MultiwayJoin, driver: str) -> list[str]:
    """The names of a stream's operators in the order in which a multi-way join has them: filters at
    the source, probes, and then the filters that wait."""
    query = problem.query
    probes = (probe.target for probe in single.order(driver).probes)
    late = (str(c) for c in waiting(query) if c.streams == {driver})
    return [*map(str, query.filters_of(driver)), *probes, *late]


def multiway_seconds(space: MeshSpace, route: list[str]) -> float:
    """What a tuple costs on the route of a multi-way join, by the training."""
    return space.alone(_numbered(space.problem.training, route)).cost


def _space(problem: Problem, training: Training, ruster: float) -> MeshSpace:
    figures = figures_for(problem, training, ruster)
    return MeshSpace(MeshProblem(as_joined(problem, training), figures))


def _prospect(
    space: MeshSpace, mesh: DriverMesh, taken: NDArray[np.int64], instead: list[str]
) -> Prospect:
    """The costs of a mesh's routes and of the multi-way join's; the mesh may be the dearer."""
    training, weights = space.problem.training, space.problem.weights
    orders = [_numbered(training, map(operator_name, route.operators)) for route in mesh.routes]
    costs = np.column_stack([space.costs(order) for order in orders])
    own = costs[np.arange(len(taken)), taken]
    shares = np.bincount(taken, weights, len(orders))
    seconds = np.bincount(taken, weights * own, len(orders)) / np.where(shares > 0, shares, 1.0)
    figures = space.problem.figures
    levels = _levels(mesh, training) * figures.level
    cost = mesh_cost(weights, own, levels, len(orders), figures.overhead)
    return Prospect(tuple(seconds.tolist()), cost, multiway_seconds(space, instead))


def _numbered(training: Training, names: Iterable[str]) -> Route:
    return tuple(training.operators.index(name) for name in names)


def routes_taken(mesh: DriverMesh, training: Training) -> NDArray[np.int64]:
    """The route that the classifier gives each training tuple.

    A column of which the training knows nothing is NULL: it had one value in all the sample.
    """
    return np.array([_goes(mesh.classifier, row)[0] for row in _rows(training)], np.int64)


def operator_name(operator: Operator) -> str:
    """The name of an operator in training and reports."""
    return str(operator.condition) if isinstance(operator, Screen) else operator.target


def _levels(mesh: DriverMesh, training: Training) -> Floats:
    """The tests that the classifier makes of each training tuple."""
    return np.array([_goes(mesh.classifier, row)[1] for row in _rows(training)], np.float64)


def _rows(training: Training) -> list[dict[str, Value]]:
    return [dict(zip(training.attributes, values, strict=True)) for values in training.values]


def _goes(fork: Fork, values: Mapping[str, Value]) -> tuple[int, int]:
    """The route of a tuple, and the tests on its way."""
    levels = 0
    while isinstance(fork, Split):
        levels += 1
        fork = fork.passed if _passes(fork, values.get(fork.attribute)) else fork.failed
    return fork.route, levels


def _passes(split: Split, value: Value) -> bool:
    if isinstance(value, str) or value is None:
        return value in split.values
    return split.limit is not None and value <= split.limit
