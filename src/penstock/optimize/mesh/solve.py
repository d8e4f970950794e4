"""From training tuples to the mesh of a stream: a search, a check, and the plan of it (QM §4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from penstock.optimize.mesh.check import objection, obstacle
from penstock.optimize.mesh.problem import MeshFigures, MeshProblem, Route
from penstock.optimize.mesh.route import first_route
from penstock.optimize.mesh.search import Stop, search
from penstock.optimize.mesh.space import Candidate, MeshSpace
from penstock.optimize.mesh.stages import UNCERTAIN_MARGIN, stages_of
from penstock.plan.mesh import DriverMesh, Goes, MeshRoute, Operator
from penstock.plan.mesh_search import Start, Strategy
from penstock.stats.training import Training


@dataclass(frozen=True)
class Solution:
    """A stream's mesh; what it and the best single route cost, in seconds a tuple (QM Eq. 2).

    `route_costs` are the seconds that a tuple takes on each route, of those that take it.
    `reason` says why there is one route, if there is.
    """

    mesh: DriverMesh
    cost: float
    single: float
    route_costs: tuple[float, ...]
    reason: str | None = None

    @property
    def gain(self) -> float:
        """The part of the single route's cost that the mesh saves."""
        return 1 - self.cost / self.single if self.single > 0 else 0.0


def solve(
    training: Training,
    operators: Sequence[Operator],
    figures: MeshFigures,
    strategy: Strategy = "ii",
    start: Start = "route",
    stop: Stop = Stop(),  # noqa: B008
    seed: int = 0,
    uncertain: float = UNCERTAIN_MARGIN,
) -> Solution:
    """The best mesh for a stream whose training tuples know `operators`, in their order.

    It has one route, with the reason, unless more are clearly better. The same input gives the same
    mesh.
    """
    space = MeshSpace(MeshProblem(training, figures))
    if not space.size:
        return _untrained(space, operators)
    reason = obstacle(space)
    found = space.single if reason else search(space, strategy, start, stop, seed)
    reason = reason or objection(space, found, seed)
    return _solution(space, space.single if reason else found, operators, uncertain, reason)


def _untrained(space: MeshSpace, operators: Sequence[Operator]) -> Solution:
    """One route in the order of the operators: nothing is known about them."""
    route = MeshRoute(tuple((operators[k],) for k in first_route(space.problem)))
    mesh = DriverMesh(space.problem.training.driver, Goes(0), (route,), (1.0,))
    return Solution(mesh, 0.0, 0.0, (0.0,), "the sample is empty")


def _solution(
    space: MeshSpace,
    found: Candidate,
    operators: Sequence[Operator],
    uncertain: float,
    reason: str | None,
) -> Solution:
    weights = space.problem.weights
    used = [int(route) for route in np.unique(found.taken)]
    on_route = [weights * (found.taken == route) for route in used]
    shares = [float(part.sum()) for part in on_route]
    seconds = [
        float(part @ space.costs(found.routes[route]) / share) if share else 0.0
        for part, route, share in zip(on_route, used, shares, strict=True)
    ]
    stages = [
        stages_of(space.problem, part, found.routes[route], uncertain)
        for part, route in zip(on_route, used, strict=True)
    ]
    numbers = {route: number for number, route in enumerate(used)}
    mesh = DriverMesh(
        space.problem.training.driver,
        found.classifier.fork(numbers) if found.classifier else Goes(0),
        tuple(_staged(route, operators) for route in stages),
        tuple(shares),
    )
    return Solution(mesh, found.cost, space.single.cost, tuple(seconds), reason)


def _staged(stages: tuple[Route, ...], operators: Sequence[Operator]) -> MeshRoute:
    return MeshRoute(tuple(tuple(operators[k] for k in stage) for stage in stages))
