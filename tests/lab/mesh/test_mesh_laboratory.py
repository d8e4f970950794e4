"""Meshes and eddies in the laboratory: every route, and every way about, gives every result."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from penstock.errors import PlanError
from penstock.lab.apparatus import execute, no_counts, set_up
from penstock.lab.clock import ClockCosts, OwnCosts, SimulatedClock
from penstock.lab.laboratory import run
from penstock.lab.mesh import join_eddy, mesh
from penstock.lab.schedule import Eager, Lazy
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
from penstock.plan.multiway import Probe
from penstock.query import Call, Column, Condition, DataType, Literal, Query
from reference import answer
from support.lab.laboratory import HASH, SECOND, common_case, plan_of, rows_of, tables_of
from support.streams.cases import canonical, random_case

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
        meshes.append(DriverMesh(stream.alias, random_fork(rng, len(routes)), routes, shares))
    waiting = tuple(c for c in query.filters if rng.random() < 0.5)
    query = replace(
        query,
        filters=tuple(c for c in query.filters if c not in waiting),
        thetas=query.thetas + waiting,
    )
    return MeshJoin(query, tuple(meshes))


@pytest.mark.parametrize("seed", range(80))
def test_every_mesh_gives_the_results_of_the_reference(seed: int) -> None:
    case, rng = random_case(seed), Random(f"mesh {seed}")
    window, ruster = rng.choice((None, 1, 3)), rng.choice((1, 1, 2, 4))
    mode = rng.choice((Eager(), Eager(), Lazy(rng.choice((1, 7)) * SECOND)))
    plan = replace(random_mesh(rng, case.query), window=window, ruster=ruster)
    outcome = run(plan, tables_of(case), mode)
    assert canonical(rows_of(outcome)) == canonical(answer(case.query, case.batches))


@pytest.mark.parametrize(("seed", "batch"), [(n, (1, 3, 100)[n % 3]) for n in range(75)])
def test_every_eddy_gives_the_results_of_the_reference(
    seed: int, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, rng = random_case(1_000 + seed), Random(f"eddy {seed}")
    monkeypatch.setattr(join_eddy, "FIRST_REFRESH", 1)
    monkeypatch.setattr(join_eddy, "REFRESH", rng.choice((1, 4, 64)))
    monkeypatch.setattr(join_eddy, "LEARNING", rng.choice((0.2, 1.0)))
    mode = rng.choice((Eager(), Eager(), Lazy(rng.choice((1, 7)) * SECOND)))
    outcome = run(Eddy(case.query, batch), tables_of(case), mode)
    assert canonical(rows_of(outcome)) == canonical(answer(case.query, case.batches))


# ── routes ────────────────────────────────────────────────────────────────────────────────────────

ALIASES = ("A", "B", "C", "D")


def mesh_of_two(query: Query, attribute: str = "k", stage: tuple[str, ...] = ()) -> MeshJoin:
    """Keys up to 1 go one way round, all others the other; a stage of a route may be uncertain."""
    split = Split(attribute, 1.0, frozenset(), Goes(0), Goes(1))
    meshes = []
    for driver in ALIASES:
        others = [alias for alias in ALIASES if alias != driver]
        ways: list[list[tuple[str, ...]]]
        ways = [[(alias,) for alias in order] for order in (others, others[::-1])]
        if driver not in stage and stage:
            ways = [[stage, *((alias,) for alias in others if alias not in stage)]] * 2
        routes = tuple(
            MeshRoute(tuple(tuple(Probe(a, "hash") for a in names) for names in way))
            for way in ways
        )
        meshes.append(DriverMesh(driver, split, routes, (0.4, 0.6)))
    return MeshJoin(query, tuple(meshes))


def test_each_tuple_takes_the_route_of_its_class() -> None:
    case = common_case()
    apparatus = set_up(mesh_of_two(case.query), tables_of(case), Eager(), 0, {})
    execute(apparatus, no_counts(apparatus, with_ledger=False))
    assert isinstance(apparatus.machine, mesh.Mesh)
    loops = apparatus.machine.loops
    keys = np.concatenate([rows.column("k").to_numpy() for rows in tables_of(case).values()])
    drivers = np.repeat(np.arange(4), 15)
    assert loops.routes.tolist() == (2 * drivers + (keys > 1)).tolist()
    assert loops.passed[:, 0].sum() == 60


def test_a_mesh_does_the_work_of_its_routes() -> None:
    case = common_case()
    split, single = mesh_of_two(case.query), plan_of(case.query, HASH)
    same = replace(split, meshes=tuple(replace(m, routes=(m.routes[0],) * 2) for m in split.meshes))
    outcomes = [run(plan, tables_of(case), Eager()) for plan in (split, same, single)]
    assert outcomes[1].work == outcomes[2].work != outcomes[0].work
    assert outcomes[2].deciding == 0.0 < outcomes[1].deciding < outcomes[1].busy


def test_rusters_of_too_few_tuples_go_with_the_most() -> None:
    """With rusters as large as all of the data there is one way for each window."""
    case = common_case()
    split = mesh_of_two(case.query)
    whole = replace(split, window=10**6, ruster=10**6)
    ways = [run(plan, tables_of(case), Eager()) for plan in (split, whole)]
    assert ways[0].work != ways[1].work
    assert canonical(rows_of(ways[0])) == canonical(rows_of(ways[1]))


def test_a_lottery_learns_which_operator_lets_fewer_rows_through() -> None:
    case = common_case(tuples=400, seconds=60)
    # Of B there is only every fourth tuple.
    tables = tables_of(case)
    tables["B"] = tables["B"].take(pa.array(np.arange(0, 100, 4)))
    plan = replace(mesh_of_two(case.query, stage=("B", "C")), window=5)
    apparatus = set_up(plan, tables, Eager(), 0, {})
    execute(apparatus, no_counts(apparatus, with_ledger=False))
    assert isinstance(apparatus.machine, mesh.Mesh)
    drawn = apparatus.machine.lottery
    assert drawn is not None
    assert drawn.wheels.routes.tolist() == [0, 1, 6, 7]
    few, many = ((drawn.wheels.went / drawn.wheels.came)[:, target].mean() for target in (1, 2))
    assert few < many / 2
    single = run(plan_of(case.query, HASH), tables, Eager())
    assert canonical(rows_of(run(plan, tables, Eager()))) == canonical(rows_of(single))


def test_a_mesh_on_a_simulated_clock_is_charged_for_its_work() -> None:
    case, clock = common_case(), SimulatedClock(ClockCosts(probes=1.0))
    outcome = run(mesh_of_two(case.query), tables_of(case), Lazy(2 * SECOND), clock=clock)
    assert outcome.busy == outcome.work.probes > 0
    assert outcome.deciding == 0.0


def test_an_attribute_that_the_driver_does_not_have_is_refused() -> None:
    case = common_case()
    with pytest.raises(PlanError, match="mesh of A looks at price, which its tuples do not have"):
        run(mesh_of_two(case.query, "price"), tables_of(case), Eager())


def test_a_server_for_each_join_is_for_trees() -> None:
    case, clock = common_case(), SimulatedClock(ClockCosts(), servers="each")
    for plan in (mesh_of_two(case.query), Eddy(case.query)):
        with pytest.raises(PlanError, match="cannot have a server for each join"):
            run(plan, tables_of(case), Eager(), clock=clock)


# ── filters between the probes ────────────────────────────────────────────────────────────────────


def screened(query: Query, place: int) -> MeshJoin:
    """Filters of A (k ≤ 1, then id ≥ 5) after so many of its probes; all other routes as FROM."""
    low, late = (
        Condition(Call(name, (Column("A", column, kind), Literal(limit, kind)), DataType.BOOLEAN))
        for name, column, kind, limit in (
            ("le", "k", DataType.INT, 1),
            ("ge", "id", DataType.BIGINT, 5),
        )
    )
    meshes = []
    for driver in ALIASES:
        operators: list[Operator] = [Probe(a, "hash") for a in ALIASES if a != driver]
        if driver == "A":
            operators[place:place] = [Screen(low), Screen(late)]
        route = MeshRoute(tuple((operator,) for operator in operators))
        meshes.append(DriverMesh(driver, Goes(0), (route,), (1.0,)))
    return MeshJoin(replace(query, thetas=(low, late)), tuple(meshes))


def test_a_filter_between_probes_spares_those_after_it() -> None:
    case = common_case(tuples=160, seconds=48)
    plans = [screened(case.query, place) for place in range(4)]
    early = replace(plans[0].query, thetas=(), filters=plans[0].query.thetas)
    wanted = canonical(answer(early, case.batches))
    found = [run(plan, tables_of(case), Eager()) for plan in plans]
    assert wanted
    assert all(canonical(rows_of(outcome)) == wanted for outcome in found)
    probes = [outcome.work.probes for outcome in found]
    assert probes[0] < probes[1] < probes[2] < probes[3]


def test_a_filter_in_a_route_is_charged_once_for_each_tuple_that_gets_there() -> None:
    case = common_case(tuples=400, seconds=120)
    tables, plan = tables_of(case), screened(case.query, 0)
    first, second = map(str, plan.query.thetas)
    clock = SimulatedClock(ClockCosts(), own=OwnCosts(conditions={first: 1.0, second: 100.0}))
    outcome = run(plan, tables, Eager(), clock=clock)
    keys = tables["A"].column("k").to_numpy()
    on_the_way = len(keys) + 100.0 * np.count_nonzero(keys <= 1)
    # Results of other streams' tuples bring a member of A that nobody has asked yet.
    times = [tables[alias].column("#ts").to_numpy() for alias in ALIASES]
    every = rows_of(run(replace(plan, query=case.query), tables, Eager()))
    members = [row[0] for row in every if max(range(4), key=lambda i: int(times[i][row[i]])) != 0]
    on_results = len(members) + 100.0 * np.count_nonzero(keys[members] <= 1)
    assert outcome.own == pytest.approx(on_the_way + on_results)
    assert outcome.busy == pytest.approx(outcome.own)
    reached = [run(screened(case.query, n), tables, Eager(), clock=clock).own for n in range(4)]
    assert reached == sorted(reached, reverse=True)
    assert reached[3] < reached[0]


def test_filters_before_the_probes_come_in_the_order_of_the_route() -> None:
    case = common_case(tuples=400, seconds=120)
    tables, plan = tables_of(case), screened(case.query, 0)
    low, late = plan.query.thetas
    first = plan.mesh("A").routes[0]
    second = MeshRoute((first.stages[1], first.stages[0], *first.stages[2:]))
    fork = Split("id", 50.0, frozenset(), Goes(0), Goes(1))
    both = DriverMesh("A", fork, (first, second), (0.5, 0.5))
    query = replace(plan.query, filters=(low, late), thetas=())
    plan = replace(plan, query=query, meshes=(both, *plan.meshes[1:]))
    clock = SimulatedClock(ClockCosts(), own=OwnCosts(conditions={str(low): 1.0, str(late): 100.0}))
    ids, keys = (tables["A"].column(name).to_numpy() for name in ("id", "k"))
    one = np.where(keys <= 1, 101.0, 1.0)
    other = np.where(ids >= 5, 101.0, 100.0)
    outcome = run(plan, tables, Eager(), clock=clock)
    assert outcome.own == pytest.approx(np.where(ids <= 50, one, other).sum())
    single = run(plan_of(query, HASH), tables, Eager(), clock=clock)
    assert single.own == pytest.approx(one.sum())
    assert canonical(rows_of(outcome)) == canonical(rows_of(single))


# ── what an eddy learns ───────────────────────────────────────────────────────────────────────────


def test_an_eddy_needs_a_tuple_to_decide_for() -> None:
    case = common_case()
    with pytest.raises(PlanError, match="cannot decide for 0 tuples"):
        run(Eddy(case.query, batch=0), tables_of(case), Eager())


def test_an_eddy_learns_to_go_where_few_rows_are() -> None:
    """Of C there is only every tenth tuple: the eddy goes there first, unlike FROM's order."""
    case = common_case(tuples=16_000, seconds=2_400)
    tables = tables_of(case)
    tables["C"] = tables["C"].take(pa.array(np.arange(0, 4_000, 10)))
    written = run(plan_of(case.query, HASH), tables, Eager())
    for batch in (1, 100):
        learned = run(Eddy(case.query, batch), tables, Eager())
        assert canonical(rows_of(learned)) == canonical(rows_of(written))
        assert learned.work.probes < 0.8 * written.work.probes
