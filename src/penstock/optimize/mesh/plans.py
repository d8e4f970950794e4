"""Query meshes for a problem: each stream's routes by its training, and the query around them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from penstock.engines import EngineName
from penstock.optimize.estimate import TRIGGER, needed_by
from penstock.optimize.joins.candidates import Proposal
from penstock.optimize.mesh.operators import as_joined, figures_for, operators_for
from penstock.optimize.mesh.problem import MeshProblem
from penstock.optimize.mesh.reckon import multiway_route, multiway_seconds
from penstock.optimize.mesh.search import Stop
from penstock.optimize.mesh.solve import solve
from penstock.optimize.mesh.space import MeshSpace
from penstock.optimize.model.problem import Problem
from penstock.plan.mesh import DriverMesh, Goes, MeshJoin, MeshRoute, Operator, Prospect, Screen
from penstock.plan.mesh_filters import placed, waiting
from penstock.plan.mesh_search import (
    DEFAULT_SEARCH,
    MeshSearch,
    Plateau,
    Rounds,
    StopRule,
    Work,
)
from penstock.plan.multiway import MultiwayJoin
from penstock.stats.costs import GUESSED_ROUTE, Costs
from penstock.stats.training import Training, operators_of

TREES = 600
"""Classifiers that the searches of all streams together may grow, at a millisecond or two each."""
_MOST_TREES, _PARTS = 200, 10
"""What one stream may have of them, and for each how many parts it may find routes for."""
_PLATEAU = 20
"""Neighbours in a row that are no better, after which a round ends: with so few trees a new start
is worth more than the last of a hundred neighbours."""
_NEIGHBOURS = 100
"""Neighbours that are looked at for each tree: of few training tuples all may have been seen."""
_ENDLESS = 100
"""Rounds of a search that goes on until one finds nothing better: so many are never needed."""


def mesh_plans(
    problem: Problem,
    multiway: Iterable[Proposal],
    *,
    is_alone: bool,
    search: MeshSearch = DEFAULT_SEARCH,
    ruster: float = GUESSED_ROUTE,
) -> Iterator[Proposal]:
    """The best mesh beside the given multi-way joins, where tuples could take different routes.

    A view over ROWS windows is joined anew, without rusters. Where nobody tried to train it, a
    mesh is proposed only if no other kind of plan is wanted: then every stream has one route. A
    route takes `ruster` seconds a second, however few take it.
    """
    known, query = problem.known, problem.query
    is_asked = bool(known.training or known.untrained or is_alone)
    if (query.is_sequenced and query.view is not None) or not is_asked:
        return
    joins = [plan for plan, _ in multiway if isinstance(plan, MultiwayJoin)]
    single = min(joins, key=lambda plan: needed_by(problem, plan))
    finding = _Finding(problem, single, search, ruster)
    meshes = tuple(finding.mesh(stream.alias) for stream in problem.query.streams)
    plan = MeshJoin(placed(query, meshes), meshes, single=single, search=search)
    yield replace(plan, window=search.window, ruster=search.ruster), "query mesh"


def stop_for(streams: int, rule: StopRule | None = None) -> Stop:
    """How far the search for the mesh of one of so many streams goes."""
    trees = min(_MOST_TREES, TREES // streams)
    match rule:
        case None:
            return _stop(trees)
        case Rounds(count=count):
            return replace(_stop(_MOST_TREES * count), rounds=count)
        case Plateau():
            return replace(_stop(_ENDLESS * trees), rounds=_ENDLESS, ends_flat=True)
        case Work(trees=trees):
            return replace(_stop(trees), rounds=trees)
        case _:
            assert_never(rule)


def _stop(trees: int) -> Stop:
    return Stop(plateau=_PLATEAU, trees=trees, parts=_PARTS * trees, neighbours=_NEIGHBOURS * trees)


def ruster_seconds(costs: Costs, engine: EngineName) -> float:
    """Seconds a second for every route in batches of a second: each is sliced and sent by itself.

    The laboratory takes tuple by tuple: there are no pieces of batches.
    """
    if engine == "laboratory":
        return 0.0
    return (GUESSED_ROUTE if costs.route is None else costs.route) / TRIGGER


def fallback_notes(plan: MeshJoin) -> Iterator[str]:
    """Why streams have one route, in a sentence for each reason."""
    drivers: dict[str, list[str]] = {}
    for mesh in plan.meshes:
        if mesh.prospect is not None and mesh.prospect.reason:
            drivers.setdefault(mesh.prospect.reason, []).append(mesh.driver)
    for reason, names in drivers.items():
        yield f"one route for {', '.join(names)}: {reason}"


@dataclass(frozen=True)
class _Finding:
    """Finds the meshes of a problem's streams, beside a single plan."""

    problem: Problem
    single: MultiwayJoin
    search: MeshSearch
    ruster: float

    def mesh(self, driver: str) -> DriverMesh:
        """The mesh of one stream."""
        problem, training = self.problem, self.problem.known.training.get(driver)
        if training is None:
            is_plain = len(operators_of(problem.query, driver)) < 2
            reason = problem.known.untrained.get(driver, "" if is_plain else "it has no training")
            return self._one_route(driver, reason)
        if set(training.operators) != set(operators_of(problem.query, driver)):
            reason = "its training is of another query; penstock analyze takes a new sample"
            return self._one_route(driver, reason)
        if problem.flows and any(c.streams == {driver} for c in waiting(problem.query)):
            # Training knows single tuples: what a filter takes of folded rows it does not tell.
            return self._one_route(driver, "a filter waits until its tuples are aggregated")
        return self._trained(training)

    def _trained(self, training: Training) -> DriverMesh:
        problem = self.problem
        joined, figures = as_joined(problem, training), figures_for(problem, training, self.ruster)
        found = solve(
            joined,
            operators_for(problem, training),
            figures,
            self.search.search,
            self.search.start,
            stop_for(len(problem.known.training), self.search.stop),
        )
        if found.reason is not None:
            return self._one_route(training.driver, found.reason)
        mesh, route = found.mesh, multiway_route(problem, self.single, training.driver)
        instead = multiway_seconds(MeshSpace(MeshProblem(joined, figures)), route)
        prospect = Prospect(found.route_costs, found.cost, instead)
        return DriverMesh(mesh.driver, mesh.classifier, mesh.routes, mesh.shares, prospect)

    def _one_route(self, driver: str, reason: str) -> DriverMesh:
        """The route of the single plan, with filters where the query has them."""
        query = self.problem.query
        operators: tuple[Operator, ...] = (
            *map(Screen, query.filters_of(driver)),
            *self.single.order(driver).probes,
            *(Screen(c) for c in waiting(query) if c.streams == {driver}),
        )
        route = MeshRoute(tuple((operator,) for operator in operators))
        prospect = Prospect((0.0,), 0.0, 0.0, reason)
        return DriverMesh(driver, Goes(0), (route,), (1.0,), prospect)
