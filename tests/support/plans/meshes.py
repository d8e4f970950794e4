"""Random meshes: any classifier, any routes of filters and probes, some of them uncertain."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from random import Random

from penstock.duration import MICROS
from penstock.plan.mesh import (
    DriverMesh,
    Fork,
    Goes,
    MeshJoin,
    MeshRoute,
    Operator,
    Screen,
    Split,
)
from penstock.plan.multiway import Probe
from penstock.query import (
    Call,
    Column,
    Condition,
    DataType,
    Input,
    Literal,
    Query,
    RowsWindow,
    TimeWindow,
)
from penstock.query.expression import Value
from penstock.query.window import NOW
from support.streams.cases import Case

SECONDS = (0, 5, 20, 100)


def timed(case: Case, rng: Random) -> Case:
    """The case with windows of time alone, and a few filters on its streams."""
    inputs = tuple(_timed(item, rng) for item in case.query.inputs)
    return filtered(replace(case, query=replace(case.query, inputs=inputs)), rng)


def filtered(case: Case, rng: Random) -> Case:
    """The case with a few filters on its streams."""
    filters = tuple(c for item in case.query.streams for c in _filters(item, rng))
    query = replace(case.query, filters=(*case.query.filters, *filters))
    return replace(case, query=query)


def counted(case: Case, rng: Random) -> Case:
    """The case with a ROWS window at least, and a few filters on its streams."""
    if not case.query.is_sequenced:
        first = case.query.streams[0]
        window = RowsWindow(rng.randint(1, 8))
        inputs = [replace(i, window=window) if i is first else i for i in case.query.inputs]
        case = replace(case, query=replace(case.query, inputs=tuple(inputs)))
    return filtered(case, rng)


def grouped(plan: MeshJoin, rng: Random) -> MeshJoin:
    """The mesh with some classification window and least size of rusters."""
    return replace(plan, window=rng.choice((None, 1, 3, 10)), ruster=rng.choice((1, 1, 2, 5)))


def _timed(item: Input, rng: Random) -> Input:
    if not isinstance(item.window, RowsWindow):
        return item
    return replace(item, window=rng.choice((TimeWindow(30 * MICROS), TimeWindow(MICROS), NOW)))


def _filters(item: Input, rng: Random) -> list[Condition]:
    x, j = Column(item.alias, "x", DataType.DOUBLE), Column(item.alias, "j", DataType.INT)
    s = Column(item.alias, "s", DataType.STRING)
    drawn = [
        Call("lt", (x, Literal(float(rng.randint(2, 7)), DataType.DOUBLE)), DataType.BOOLEAN),
        Call("ge", (j, Literal(rng.choice((0, 1)), DataType.INT)), DataType.BOOLEAN),
        Call("ne", (s, Literal(rng.choice(("v0", "V1")), DataType.STRING)), DataType.BOOLEAN),
    ]
    return [Condition(call) for call in rng.sample(drawn, rng.choice((0, 1, 1, 2, 3)))]


def random_mesh(query: Query, rng: Random) -> MeshJoin:
    """A mesh for every stream; filters that may come after a probe wait."""
    conditions = [c for c in (*query.filters, *query.thetas) if len(c.streams) == 1]
    meshes = []
    for item in query.streams:
        operators: list[Operator] = [
            Probe(alias, "sorted") for alias in query.aliases if alias != item.alias
        ]
        mine = dict.fromkeys(c for c in conditions if c.streams == {item.alias})
        operators += [Screen(condition) for condition in mine]
        routes = tuple(_route(operators, rng) for _ in range(rng.choice((1, 2, 3, 3, 5))))
        tree = random_fork(item, len(routes), rng)
        meshes.append(DriverMesh(item.alias, tree, routes, (1 / len(routes),) * len(routes)))
    late = {c for mesh in meshes for route in mesh.routes for c in _late(route)}
    thetas = [c for c in query.thetas if len(c.streams) > 1]
    placed = replace(
        query,
        filters=tuple(c for c in conditions if c not in late),
        thetas=(*thetas, *(c for c in conditions if c in late)),
    )
    return MeshJoin(placed, tuple(meshes))


def _route(operators: list[Operator], rng: Random) -> MeshRoute:
    shuffled = rng.sample(operators, len(operators))
    stages: list[tuple[Operator, ...]] = []
    while shuffled:
        size = rng.choice((1, 1, 1, 2, 3))
        stages.append(tuple(shuffled[:size]))
        shuffled = shuffled[size:]
    return MeshRoute(tuple(stages))


def _late(route: MeshRoute) -> list[Condition]:
    """The filters before which a probe may come."""
    late, has_probe = [], False
    for stage in route.stages:
        has_probe |= any(isinstance(each, Probe) for each in stage)
        late += [each.condition for each in stage if isinstance(each, Screen) and has_probe]
    return late


def random_fork(item: Input, routes: int, rng: Random, depth: int = 3) -> Fork:
    """Any tree over the columns of an input."""
    if depth == 0 or rng.random() < 0.15:
        return Goes(rng.randrange(routes))
    below = [random_fork(item, routes, rng, depth - 1) for _ in range(2)]
    field = rng.choice([field for field in item.source.fields if field.type.is_telling])
    if field.type is DataType.STRING:
        texts = [f"{letter}{n}" for letter in "vVé" for n in range(3)]
        return Split(field.name, None, frozenset(rng.sample(texts, 4)), *below)
    limit = rng.choice((0.0, 0.5, 1.0, 2.0, 3.0))
    if field.name == "ts":
        seconds = float(rng.choice(SECONDS))
        limit = seconds * (1_000 if field.type is DataType.BIGINT else 1_000_000)
    return Split(field.name, limit, frozenset(), *below)


def walk(fork: Fork, values: Mapping[str, Value]) -> int:
    """The route of one tuple, whose numbers and texts are given by name."""
    while isinstance(fork, Split):
        value = values[fork.attribute]
        if value is None:
            passes = False
        elif fork.limit is None:
            passes = value in fork.values
        else:
            assert isinstance(value, float)
            passes = not math.isnan(value) and value <= fork.limit
        fork = fork.passed if passes else fork.failed
    return fork.route
