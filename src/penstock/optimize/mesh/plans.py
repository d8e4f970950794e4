"""Query meshes for a problem: each stream's routes by its training, and the query around them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.optimize.estimate import needed_by
from penstock.optimize.joins.candidates import Proposal
from penstock.optimize.mesh.operators import as_joined, figures_for, operators_for
from penstock.optimize.mesh.search import Stop
from penstock.optimize.mesh.solve import solve
from penstock.optimize.model.load_of_mesh import waiting, with_waiting
from penstock.optimize.model.problem import Problem
from penstock.plan.mesh import DriverMesh, Goes, MeshJoin, MeshRoute, Operator, Prospect, Screen
from penstock.plan.multiway import MultiwayJoin, Probe
from penstock.query import Condition
from penstock.stats.training import Training, operators_of

TREES = 600
"""Classifiers that the searches of all streams together may grow, at a millisecond or two each."""
_MOST_TREES, _PARTS = 200, 10
"""What one stream may have of them, and for each how many parts it may find routes for."""
_PLATEAU = 20
"""Neighbours in a row that are no better, after which a round ends: with so few trees a new start
is worth more than the last of a hundred neighbours."""
RUSTER = 2e-4
"""Seconds a second for every route in batches of a second: each is sliced and sent by itself."""


def mesh_plans(
    problem: Problem, multiway: Iterable[Proposal], *, is_alone: bool, ruster: float = RUSTER
) -> Iterator[Proposal]:
    """The best mesh beside the given multi-way joins, where tuples could take different routes.

    Nothing may be counted by rows, nor folded before it is joined. Where nobody tried to train it,
    a mesh is proposed only if no other kind of plan is wanted: then every stream has one route. A
    route takes `ruster` seconds a second, however few take it.
    """
    known = problem.known
    is_asked = bool(known.training or known.untrained or is_alone)
    if problem.query.is_sequenced or problem.flows or not is_asked:
        return
    joins = [plan for plan, _ in multiway if isinstance(plan, MultiwayJoin)]
    single = min(joins, key=lambda plan: needed_by(problem, plan))
    meshes = tuple(_mesh(problem, single, s.alias, ruster) for s in problem.query.streams)
    query = with_waiting(problem.query, _late(problem, meshes))
    yield MeshJoin(query, meshes, single=single), "query mesh"


def stop_for(streams: int) -> Stop:
    """How far the search for the mesh of one of so many streams goes."""
    trees = min(_MOST_TREES, TREES // streams)
    return Stop(plateau=_PLATEAU, trees=trees, parts=_PARTS * trees)


def fallback_notes(plan: MeshJoin) -> Iterator[str]:
    """Why streams have one route, in a sentence for each reason."""
    drivers: dict[str, list[str]] = {}
    for mesh in plan.meshes:
        if mesh.prospect is not None and mesh.prospect.reason:
            drivers.setdefault(mesh.prospect.reason, []).append(mesh.driver)
    for reason, names in drivers.items():
        yield f"one route for {', '.join(names)}: {reason}"


def _mesh(problem: Problem, single: MultiwayJoin, driver: str, ruster: float) -> DriverMesh:
    training = problem.known.training.get(driver)
    if training is None:
        is_plain = len(operators_of(problem.query, driver)) < 2
        reason = problem.known.untrained.get(driver, "" if is_plain else "it has no training")
        return _one_route(problem, single, driver, reason)
    if set(training.operators) != set(operators_of(problem.query, driver)):
        reason = "its training is of another query; penstock analyze takes a new sample"
        return _one_route(problem, single, driver, reason)
    return _trained(problem, single, training, ruster)


def _trained(
    problem: Problem, single: MultiwayJoin, training: Training, ruster: float
) -> DriverMesh:
    found = solve(
        as_joined(problem, training),
        operators_for(problem, training),
        figures_for(problem, training, ruster),
        stop=stop_for(len(problem.known.training)),
    )
    if found.reason is not None:
        return _one_route(problem, single, training.driver, found.reason)
    mesh = found.mesh
    prospect = Prospect(found.route_costs, found.cost, found.single)
    return DriverMesh(mesh.driver, mesh.classifier, mesh.routes, mesh.shares, prospect)


def _one_route(problem: Problem, single: MultiwayJoin, driver: str, reason: str) -> DriverMesh:
    """The route of the single plan, with filters where the query has them."""
    operators: tuple[Operator, ...] = (
        *map(Screen, problem.query.filters_of(driver)),
        *single.order(driver).probes,
        *(Screen(c) for c in waiting(problem.query) if c.streams == {driver}),
    )
    route = MeshRoute(tuple((operator,) for operator in operators))
    prospect = Prospect((0.0,), 0.0, 0.0, reason)
    return DriverMesh(driver, Goes(0), (route,), (1.0,), prospect)


def _late(problem: Problem, meshes: Iterable[DriverMesh]) -> list[Condition]:
    """The filters that come after a probe in some route, and those of tables that wait anyway."""
    tables = {item.alias for item in problem.query.inputs if item.is_table}
    late = [c for c in waiting(problem.query) if c.streams <= tables]
    for mesh in meshes:
        late += dict.fromkeys(c for route in mesh.routes for c in _after_probes(route))
    return late


def _after_probes(route: MeshRoute) -> Iterator[Condition]:
    is_probed = False
    for stage in route.stages:
        is_probed = is_probed or any(isinstance(o, Probe) for o in stage)
        if is_probed:
            yield from (o.condition for o in stage if isinstance(o, Screen))
