"""The work of a query mesh: that of the multi-way join beside it, as its routes change it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from penstock.optimize.algebra.posynomial import Monomial, Posynomial, gathered
from penstock.optimize.model.flow import flow_of
from penstock.optimize.model.folding import with_early
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.work import (
    Terms,
    as_posynomial,
    delivery_of,
    settling_of,
    visits_of,
)
from penstock.plan.mesh import DriverMesh, MeshJoin
from penstock.plan.mesh_filters import waiting, with_waiting
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from penstock.plan.representative import representative
from penstock.query import Query


@dataclass(frozen=True)
class Part:
    """A part of a plan's work: its terms, seconds for receiving one raw tuple of each input, and
    the problem whose inputs these are of."""

    problem: Problem
    terms: Terms
    received: tuple[float, ...] = ()


def mesh_load(problem: Problem, plan: MeshJoin) -> Posynomial:
    """The load of a mesh, by the fractions kept of the inputs."""
    own = [m for part in mesh_parts(problem, plan) for m in _load(part)]
    return gathered([*own, *as_posynomial(problem, delivery_of(problem))])


def mesh_parts(problem: Problem, plan: MeshJoin) -> Iterator[Part]:
    """The work for each stream's new tuples, without delivery."""
    single, kept = plan.single or representative(plan), as_kept(problem, plan)
    for mesh in plan.meshes:
        settling = settling_of(kept, single, single.order(mesh.driver))
        yield Part(kept, settling, (0.0,) * problem.size)
        yield _driver_part(problem, plan, single, mesh)


def _load(part: Part) -> Iterator[Monomial]:
    yield from as_posynomial(part.problem, part.terms)
    for i, (flow, seconds) in enumerate(zip(part.problem.inputs, part.received, strict=True)):
        if seconds:
            yield Monomial(flow.raw_rate * seconds, frozenset({i}))


def as_kept(problem: Problem, plan: Plan) -> Problem:
    """The problem with the filters where the plan has them: what waits makes windows larger."""
    if not isinstance(plan, MeshJoin) or set(waiting(plan.query)) == set(waiting(problem.query)):
        return problem
    return _with(problem, plan.query, plan.early)


def _driver_part(problem: Problem, plan: MeshJoin, single: MultiwayJoin, mesh: DriverMesh) -> Part:
    """The work for one stream's new tuples once they have settled.

    Its own filters count where the multi-way join has them, the others' where the mesh has them.
    Training compares the mesh with the multi-way join's route; what that costs is reckoned as for
    all other plans.
    """
    own = waiting(problem.query)
    late = (
        *(c for c in own if c.streams == {mesh.driver}),
        *(c for c in waiting(plan.query) if c.streams != {mesh.driver}),
    )
    driven = problem
    if set(late) != set(own):
        driven = _with(problem, with_waiting(problem.query, late), plan.early)
    place = problem.query.aliases.index(mesh.driver)
    order, flow, costs = single.order(mesh.driver), driven.inputs[place], problem.known.costs
    arrive = costs.arrive if costs.join is None else 0.0
    part = 1.0 if mesh.prospect is None else 1.0 - mesh.prospect.gain
    visits = (replace(term, weight=term.weight * part) for term in visits_of(driven, order))
    received = [0.0] * problem.size
    # What folding takes is the same on all routes.
    filters = flow_of(driven.known, driven.query.inputs[place]).filter_cost
    received[place] = arrive + (flow.filter_cost - filters) + (filters - arrive) * part
    return Part(driven, tuple(visits), tuple(received))


def _with(problem: Problem, query: Query, early: tuple[str, ...]) -> Problem:
    return with_early(Problem(query, replace(problem.known, query=query)), early)
