"""The work of a query mesh: that of the multi-way join beside it, less what its routes spare."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from penstock.optimize.model.flow import flow_of
from penstock.optimize.model.folding import with_early
from penstock.optimize.model.posynomial import Monomial, Posynomial, gathered
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.work import (
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


def mesh_load(problem: Problem, plan: MeshJoin) -> Posynomial:
    """The load of a mesh, by the fractions kept of the inputs."""
    single = plan.single or representative(plan)
    own = [m for mesh in plan.meshes for m in _driver_load(problem, plan, single, mesh)]
    return gathered([*own, *as_posynomial(problem, delivery_of(problem))])


def as_kept(problem: Problem, plan: Plan) -> Problem:
    """The problem with the filters where the plan has them: what waits makes windows larger."""
    return _with(problem, plan.query, plan.early) if isinstance(plan, MeshJoin) else problem


def _driver_load(
    problem: Problem, plan: MeshJoin, single: MultiwayJoin, mesh: DriverMesh
) -> Iterator[Monomial]:
    """The work for one stream's new tuples.

    Its own filters count where the multi-way join has them, the others' where the mesh has them.
    Training compares routes; what they cost is reckoned as for all other plans.
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
    yield from as_posynomial(driven, settling_of(driven, single, order))
    yield Monomial(flow.raw_rate * arrive, frozenset({place}))
    # What folding takes is the same on all routes.
    filters = flow_of(driven.known, driven.query.inputs[place]).filter_cost
    yield Monomial(flow.raw_rate * (flow.filter_cost - filters), frozenset({place}))
    part = 1.0 if mesh.prospect is None else 1.0 - mesh.prospect.gain
    for monomial in (
        *as_posynomial(driven, visits_of(driven, order)),
        Monomial(flow.raw_rate * (filters - arrive), frozenset({place})),
    ):
        yield replace(monomial, coefficient=monomial.coefficient * part)


def _with(problem: Problem, query: Query, early: tuple[str, ...]) -> Problem:
    return with_early(Problem(query, replace(problem.known, query=query)), early)
