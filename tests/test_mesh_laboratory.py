"""Meshes and eddies in the laboratory: every route, and every way about, gives every result."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from cases import Case, canonical, random_case
from reference import answer
from test_laboratory import HASH, SECOND, common_case, plan_of, rows_of, tables_of

from penstock.engine.local import eddy, mesh
from penstock.engine.local.clock import Costs, SimulatedClock
from penstock.engine.local.laboratory import Outcome, run
from penstock.engine.local.schedule import Eager, Lazy
from penstock.errors import PlanError
from penstock.kernels.profile import BUCKETS, encode, learn
from penstock.plan.mesh import (
    DriverMesh,
    Eddy,
    Fork,
    Goes,
    MeshJoin,
    MeshRoute,
    Operator,
    Screen,
    Split,
)
from penstock.plan.multiway import MultiwayJoin, Probe, ProbeOrder
from penstock.query import Query

# ── random meshes ─────────────────────────────────────────────────────────────────────────────────


def random_fork(rng: Random, routes: int, depth: int = 2) -> Fork:
    """Any tree, over numbers, times and texts."""
    if depth == 0 or rng.random() < 0.2:
        return Goes(rng.randrange(routes))
    passed, failed = (random_fork(rng, routes, depth - 1) for _ in range(2))
    if rng.random() < 0.4:
        return Split("s", None, frozenset(rng.sample(("", "a", "b", "é", "zz"), 2)), passed, failed)
    attribute = rng.choice(("id", "j", "x"))
    return Split(attribute, rng.choice((0.0, 1.0, 2.5, 5.0)), frozenset(), passed, failed)


def random_route(rng: Random, operators: list[Operator]) -> MeshRoute:
    """Any order, here and there with stages that a lottery decides."""
    shuffled = rng.sample(operators, len(operators))
    stages: list[tuple[Operator, ...]] = []
    while shuffled:
        size = rng.choice((1, 1, 2, 3))
        stages.append(tuple(shuffled[:size]))
        shuffled = shuffled[size:]
    return MeshRoute(tuple(stages))


def random_mesh(rng: Random, query: Query) -> MeshJoin:
    """A mesh for every stream; filters that come after a probe wait."""
    meshes = []
    for stream in query.streams:
        operators: list[Operator] = [
            Probe(alias, rng.choice(("sorted", "hash", "nested")))
            for alias in query.aliases
            if alias != stream.alias
        ]
        operators += map(Screen, query.filters_of(stream.alias))
        routes = tuple(random_route(rng, operators) for _ in range(rng.randint(1, 3)))
        shares = (1 / len(routes),) * len(routes)
        meshes.append(
            DriverMesh(stream.alias, random_fork(rng, len(routes)), routes, shares),
        )
    waiting = tuple(c for c in query.filters if rng.random() < 0.5)
    query = replace(
        query,
        filters=tuple(c for c in query.filters if c not in waiting),
        thetas=query.thetas + waiting,
    )
    return MeshJoin(query, tuple(meshes))


@pytest.mark.parametrize("seed", range(120))
def test_every_mesh_gives_the_results_of_the_reference(seed: int, monkeypatch) -> None:
    case, rng = random_case(seed), Random(f"mesh {seed}")
    monkeypatch.setattr(mesh, "CLASSIFICATION_WINDOW", rng.choice((1, 3, 1_000)))
    mode = rng.choice((Eager(), Eager(), Lazy(rng.choice((1, 7)) * SECOND)))
    outcome = run(random_mesh(rng, case.query), tables_of(case), mode)
    assert canonical(rows_of(outcome)) == canonical(answer(case.query, case.batches))


@pytest.mark.parametrize("batch", [1, 3, 100])
@pytest.mark.parametrize("seed", range(60))
def test_every_eddy_gives_the_results_of_the_reference(seed: int, batch: int, monkeypatch) -> None:
    case, rng = random_case(1_000 + seed), Random(f"eddy {seed}")
    monkeypatch.setattr(eddy, "FIRST_REFRESH", 1)
    monkeypatch.setattr(eddy, "REFRESH", rng.choice((1, 4, 64)))
    monkeypatch.setattr(eddy, "LEARNING", rng.choice((0.2, 1.0)))
    mode = rng.choice((Eager(), Eager(), Lazy(rng.choice((1, 7)) * SECOND)))
    outcome = run(Eddy(case.query, batch), tables_of(case), mode)
    assert canonical(rows_of(outcome)) == canonical(answer(case.query, case.batches))
