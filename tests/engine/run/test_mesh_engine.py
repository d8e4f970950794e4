"""Meshes and eddies on the batch engines: whatever the routes, the results are the query's."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.cql import parse
from penstock.engine.local import open_run
from penstock.engine.routes.classifying import route_numbers
from penstock.engine.routes.eddy_filters import REFRESH, EddyFilters
from penstock.engine.routes.eddy_profile import Buckets, EddyProfile, gain_ratios
from penstock.engine.routes.routing import routing_of
from penstock.engine.routes.ruster_lottery import RusterLottery
from penstock.engine.rows.layout import Layout
from penstock.engine.run.options import RunOptions
from penstock.engine.wire.facts import decode, encode
from penstock.errors import EvaluationError, PlanError
from penstock.plan.mesh import (
    DriverMesh,
    Eddy,
    Goes,
    MeshJoin,
    MeshRoute,
    Operator,
    Screen,
    Split,
)
from penstock.plan.multiway import Probe
from penstock.plan.plan import Plan
from penstock.query import DataType, Field, Input, Query, Source
from penstock.query.window import NOW
from reference import answer
from support.engines.runs import (
    Place,
    first_files_only,
    planned,
    random_plan,
    random_tree,
    run_local,
    run_replanning,
    run_spark,
)
from support.plans.meshes import random_fork, random_mesh, timed, walk
from support.plans.screened import ONE, PLAIN, TWO, Calls, by_kind, screened_query, write_kinds
from support.plans.trees import CHAIN, COMMON, TIMES, assert_only_what_counts_is_there, long_query
from support.streams.cases import Case, canonical, random_case, random_view, write_case
from support.streams.views import expected as expected_view
from support.streams.views import told

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SEEDS = range(80)


def drawn_case(seed: int, rng: Random) -> Case:
    return timed(random_case(seed), rng)


def any_plan(query: Query, rng: Random) -> Plan:
    """Mostly meshes; each puts other filters after its probes."""
    kind = rng.random()
    if kind < 0.6:
        return random_mesh(query, rng)
    return random_tree(query, rng) if kind < 0.8 else planned(query, random_plan(query, rng))


# ── classifiers ───────────────────────────────────────────────────────────────────────────────────

COLUMNS = {
    "x": (DataType.DOUBLE, pa.float64()),
    "n": (DataType.BIGINT, pa.int64()),
    "b": (DataType.BOOLEAN, pa.bool_()),
    "d": (DataType.DATE, pa.date32()),
    "t": (DataType.TIMESTAMP, pa.timestamp("us", "UTC")),
    "s": (DataType.STRING, pa.large_string()),
}


def drawn_value(name: str, rng: Random):
    if rng.random() < 0.15:
        return None
    number = rng.randrange(4)
    match name:
        case "x":
            return rng.choice((math.nan, -0.0, float(number), number + 0.5))
        case "b":
            return number % 2 == 0
        case "d":
            return date(1970, 1, 1) + timedelta(days=number)
        case "t":
            return EPOCH + timedelta(microseconds=number)
        case "s":
            return rng.choice("vVé") + str(number)
    return number


def as_plans_see_it(value):
    match value:
        case datetime():
            return float((value - EPOCH) // timedelta(microseconds=1))
        case date():
            return float((value - date(1970, 1, 1)).days)
        case None | str():
            return value
    return float(value)


@pytest.mark.parametrize("seed", range(40))
def test_tuples_are_classified_as_a_walk_down_the_tree_would(seed):
    rng = Random(f"classify {seed}")
    fields = tuple(Field(name, type_) for name, (type_, _) in COLUMNS.items())
    item = Input("a", Source("a", fields, "parquet"), NOW)
    mesh = DriverMesh("a", random_fork(item, 5, rng, depth=4), (MeshRoute(()),) * 5, (0.2,) * 5)
    count = rng.choice((0, 1, 200))
    values = {name: [drawn_value(name, rng) for _ in range(count)] for name in COLUMNS}
    kinds = {name: kind for name, (_, kind) in COLUMNS.items()}
    rows = pa.RecordBatch.from_pydict({n: pa.array(v, kinds[n]) for n, v in values.items()})
    tuples = [
        {name: as_plans_see_it(values[name][place]) for name in COLUMNS} for place in range(count)
    ]
    wanted = [walk(mesh.classifier, each) for each in tuples]
    assert route_numbers(mesh, rows).tolist() == wanted


# ── in one process ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", SEEDS)
def test_meshes_give_what_the_reference_does(seed, tmp_path):
    rng = Random(f"mesh {seed}")
    case = drawn_case(seed, rng)
    query = write_case(case, tmp_path / "in")
    place, drain = Place(tmp_path), rng.random() < 0.5
    plan = random_mesh(query, rng)
    run_local(query, place, plan=plan, drain=drain, partitions=rng.randint(1, 3))
    assert canonical(place.results(query)) == canonical(answer(query, case.batches, drain))


def test_the_meshes_cover_all_there_is():
    covered: Counter[str] = Counter()
    for seed in SEEDS:
        rng = Random(f"mesh {seed}")
        query = drawn_case(seed, rng).query
        plan = random_mesh(query, rng)
        routing = routing_of(plan, Layout(plan.query))
        covered.update(traits(plan))
        covered.update({f"{len(query.inputs)} inputs", f"{routing.rounds} rounds"})
        covered["rusters that start elsewhere"] += any(
            route.ruster is not None and not route.starts_at_home for route in routing.routes
        )
    wanted = {f"{n} inputs" for n in range(1, 6)} | {f"{n} rounds" for n in range(1, 4)}
    wanted |= {
        "first",
        "between",
        "last",
        "uncertain",
        "table",
        "now",
        "rusters that start elsewhere",
    }
    assert {trait for trait in wanted if covered[trait] < 3} == set()


def traits(plan: MeshJoin) -> set[str]:
    """Where filters stand, and what is special about the inputs."""
    found = set()
    for route in (route for mesh in plan.meshes for route in mesh.routes):
        found |= set() if route.is_certain else {"uncertain"}
        probes = [n for n, each in enumerate(route.operators) if isinstance(each, Probe)]
        for number, each in enumerate(route.operators):
            if isinstance(each, Screen) and probes:
                is_first, is_last = number < probes[0], number > probes[-1]
                found.add("first" if is_first else "last" if is_last else "between")
    found |= {"table" for item in plan.query.inputs if item.is_table}
    return found | {"now" for item in plan.query.inputs if item.window == NOW}


@pytest.mark.parametrize("seed", range(400, 416))
def test_plans_may_change_at_batch_boundaries(seed, tmp_path):
    """The filters that the first plan lets wait, wait in all; no other plan lets others wait."""
    rng = Random(f"mesh boundary {seed}")
    case = drawn_case(seed, rng)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)
    run_replanning(query, place, rng, any_plan)
    assert canonical(place.results(query)) == canonical(answer(query, case.batches))
    assert_only_what_counts_is_there(place)


@pytest.mark.parametrize("seed", range(500, 504))
def test_plans_may_change_at_restarts(seed, tmp_path):
    """Multi-way, mesh, another mesh, tree."""
    rng = Random(f"mesh restart {seed}")
    case = drawn_case(seed, rng)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)
    plans = [planned(query, random_plan(query, rng)), *(random_mesh(query, rng) for _ in range(2))]
    for count, plan in enumerate(plans, start=1):
        with first_files_only(query, count):
            run_local(query, place, plan=plan, drain=False, partitions=2)
    run_local(query, place, plan=random_tree(query, rng))
    assert canonical(place.results(query)) == canonical(answer(query, case.batches))


@pytest.mark.parametrize("where", [CHAIN, COMMON], ids=["chain", "common"])
def test_meshes_leave_nothing_of_their_own_in_the_state(where, tmp_path):
    """Chunks of many batches are merged, whatever the plans that wrote them."""
    query = long_query(tmp_path / "in", TIMES, f"{where} AND a.j < 2 AND c.id % 4 > 0", batches=30)
    plain, place = Place(tmp_path / "plain"), Place(tmp_path / "mesh")
    run_local(query, plain)
    rng = Random(where)
    run = open_run(
        random_mesh(query, rng),
        RunOptions(
            sink=place.sink,
            checkpoint=str(place.checkpoint),
            report=lambda report: run.replan(any_plan(query, rng)),
        ),
    )
    run.available_now(drain=True)
    assert canonical(place.results(query)) == canonical(plain.results(query))
    assert canonical(plain.results(query)).total() > 20


@pytest.mark.parametrize("seed", range(600, 612))
def test_views_over_a_mesh_are_what_the_reference_says(seed, tmp_path):
    rng = Random(f"mesh view {seed}")
    case = timed(random_view(seed), rng)
    query = write_case(case, tmp_path / "in")
    place, drain = Place(tmp_path), rng.random() < 0.6
    plan = random_mesh(query, rng)
    run_local(query, place, plan=plan, drain=drain, partitions=rng.randint(1, 3))
    assert told(place, query) == expected_view(case, query, drain)


@pytest.mark.parametrize("seed", range(700, 704))
def test_views_may_change_between_early_aggregation_and_a_mesh(seed, tmp_path):
    rng = Random(f"mesh early {seed}")
    case = timed(random_view(seed), rng)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)

    def drawn() -> Plan:
        if rng.random() < 0.5:
            return random_mesh(query, rng)
        return replace(planned(query), early=rng.choice(((), query.aliases[:1], query.aliases)))

    run = open_run(
        drawn(),
        RunOptions(
            sink=place.sink,
            checkpoint=str(place.checkpoint),
            report=lambda report: run.replan(drawn()),
        ),
    )
    run.available_now(drain=True)
    assert told(place, query) == expected_view(case, query)


# ── routes at work ────────────────────────────────────────────────────────────────────────────────


def test_each_ruster_meets_its_own_filter_first(tmp_path):
    write_kinds(tmp_path / "in", 2, 300)
    single, routed = Calls(), Calls()
    query = screened_query(tmp_path / "in", ONE, single)
    run_local(query, Place(tmp_path / "single"))
    query = screened_query(tmp_path / "in", ONE, routed)
    run_local(query, Place(tmp_path / "mesh"), plan=by_kind(query, ["012", "120", "201"]))
    places = [Place(tmp_path / name) for name in ("single", "mesh")]
    results = [canonical(place.results(query)) for place in places]
    assert results[0] == results[1]
    assert results[0].total() > 20
    assert routed.count.total() < 0.7 * single.count.total()


def test_filters_come_before_between_and_after_probes(tmp_path):
    write_kinds(tmp_path / "in", 3, 40)
    calls = Calls()
    query = screened_query(tmp_path / "in", TWO, calls)
    plain, place = Place(tmp_path / "plain"), Place(tmp_path / "mesh")
    run_local(query, plain)
    plan = by_kind(query, ["0b12", "b120", "12b0"])
    run_local(query, place, plan=plan, partitions=2)
    wanted = canonical(plain.results(query))
    assert wanted.total() > 100
    assert canonical(place.results(query)) == wanted


def test_what_waits_in_the_state_stays_there_for_other_plans(tmp_path):
    """A plan that lets no filter wait goes on from state that was not filtered, and vice versa."""
    write_kinds(tmp_path / "in", 6, 12)
    query = screened_query(tmp_path / "in", TWO.replace("a [NOW]", "a [RANGE 1 MINUTE]"), Calls())
    plain = Place(tmp_path / "plain")
    run_local(query, plain)
    meshes = [by_kind(query, orders) for orders in (["b012"] * 3, ["012b", "b201", "2b10"])]
    plans = [planned(query), *meshes]
    for turn in range(3):
        place = Place(tmp_path / str(turn))
        for step in range(3):
            with first_files_only(query, 2 * step + 2):
                plan = plans[(turn + step) % 3]
                run_local(query, place, plan=plan, drain=step == 2, partitions=2)
        assert canonical(place.results(query)) == canonical(plain.results(query))


def test_a_batch_that_failed_is_run_again(tmp_path):
    """Half of it was done, in an order that need not be drawn again."""
    write_kinds(tmp_path / "in", 4, 30)
    plain, place = Place(tmp_path / "plain"), Place(tmp_path / "mesh")
    query = screened_query(tmp_path / "in", TWO, Calls())
    run_local(query, plain)
    broken = screened_query(tmp_path / "in", TWO, Calls(fails_at=120))
    with pytest.raises(EvaluationError, match="failed: ValueError: not now"):
        run_local(broken, place, plan=uncertain(broken))
    assert 0 <= place.manifest.batch < 3
    run_local(query, place, plan=uncertain(query))
    assert canonical(place.results(query)) == canonical(plain.results(query))


# ── uncertain routes ──────────────────────────────────────────────────────────────────────────────


def uncertain(query: Query) -> MeshJoin:
    """All of a's operators in any order."""
    plan = by_kind(query, ["b012"] * 3)
    routes = tuple(MeshRoute((route.operators,)) for route in plan.mesh("a").routes)
    mesh = replace(plan.mesh("a"), routes=routes)
    return replace(plan, meshes=(mesh, *plan.meshes[1:]))


def test_the_lottery_learns_which_operator_goes_first(tmp_path):
    write_kinds(tmp_path / "in", 6, 120)
    query = screened_query(tmp_path / "in", ONE, Calls())
    screens = tuple(Screen(condition) for condition in query.filters)
    plan = by_kind(query, ["012"] * 3)
    routes = (MeshRoute((screens,)),) * 3
    plan = replace(plan, meshes=(replace(plan.meshes[0], routes=routes),))
    run = open_run(
        plan,
        RunOptions(sink=Place(tmp_path).sink, checkpoint=str(Place(tmp_path).checkpoint)),
    )
    run.available_now()
    lottery = run.pipeline.adaptive.lottery
    firsts: Counter[tuple[int, Operator]] = Counter()
    for batch in range(100):
        drawn = lottery.draw(plan, batch).mesh("a")
        assert all(route.is_certain for route in drawn.routes)
        firsts.update((n, route.operators[0]) for n, route in enumerate(drawn.routes))
    assert all(firsts[number, screens[number]] > 80 for number in range(3))


def test_the_lottery_draws_every_order_as_long_as_nothing_is_known(tmp_path):
    plan = uncertain(screened_query(tmp_path, TWO, Calls()))
    drawn = [
        RusterLottery().draw(plan, batch).mesh("a").routes[0].operators for batch in range(400)
    ]
    assert len(set(drawn)) == 24


def test_flows_of_uncertain_routes_are_told(tmp_path):
    write_kinds(tmp_path / "in", 2, 60)
    query = screened_query(tmp_path / "in", TWO, Calls())
    run = open_run(
        uncertain(query),
        RunOptions(
            sink=Place(tmp_path).sink, checkpoint=str(Place(tmp_path).checkpoint), partitions=2
        ),
    )
    run.available_now()
    lottery = run.pipeline.adaptive.lottery
    names = {"b", *(str(condition) for condition in query.filters)}
    assert {(driver, operator) for driver, _, operator in lottery.went_in} == {
        ("a", name) for name in names
    }
    for number, condition in enumerate(query.filters):
        key = ("a", number, str(condition))
        assert lottery.came_out[key] < 0.3 * lottery.went_in[key]


# ── eddies ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("batch", [1, 7, 100])
@pytest.mark.parametrize("select", [ONE, TWO], ids=["filters", "join"])
def test_eddies_give_the_same_rows(batch, select, tmp_path):
    write_kinds(tmp_path / "in", 2, 700)
    query = screened_query(tmp_path / "in", select, Calls())
    plain, place = Place(tmp_path / "plain"), Place(tmp_path / "eddy")
    run_local(query, plain)
    run_local(query, place, plan=Eddy(query, batch), partitions=2)
    assert canonical(place.results(query)) == canonical(plain.results(query))


def test_eddies_of_rows_windows_count_what_does_not_pass(tmp_path):
    write_kinds(tmp_path / "in", 2, 200)
    select = ONE.replace("[NOW]", "[ROWS 5]").replace("a.id AS id", "COUNT(*) AS n")
    query = screened_query(tmp_path / "in", f"{select} EVERY 2 SECONDS", Calls())
    plain, place = Place(tmp_path / "plain"), Place(tmp_path / "eddy")
    run_local(query, plain)
    run_local(query, place, plan=Eddy(query))
    assert told(place, query) == told(plain, query)
    assert told(place, query).total() > 3


def test_an_eddy_learns_which_filter_stops_which_tuples(tmp_path):
    write_kinds(tmp_path / "in", 2, 3_000)
    counts = {}
    for batch in (0, 1, 100):
        calls = Calls()
        query = screened_query(tmp_path / "in", ONE, calls)
        plan = Eddy(query, batch) if batch else planned(query)
        run_local(query, Place(tmp_path / str(batch)), plan=plan)
        counts[batch] = calls.count.total()
    assert counts[1] < 0.75 * counts[0]
    # A hundred tuples of all kinds are no better off than in any order.
    assert counts[100] < 1.1 * counts[0]


def test_an_eddy_goes_on_with_what_it_knows(tmp_path):
    """On Spark every batch has new tasks: what they have seen comes back to them as facts."""
    write_kinds(tmp_path / "in", 1, REFRESH)
    kinds = [("kind", pa.large_string()), ("x", pa.float64())]
    table = pq.read_table(tmp_path / "in" / "a").select(["kind", "x"]).cast(pa.schema(kinds))
    rows = table.combine_chunks().to_batches()[0]
    calls = Calls()
    query = screened_query(tmp_path / "in", ONE, calls)
    eddy = EddyFilters("a", query.filters, ("kind", "x"), 1)
    screened = eddy.at(0).screen(rows.slice(0, 1_000))
    assert len(eddy.profile) == 0
    eddy.learn([decode(encode(fact)) for fact in screened.facts])
    assert len(eddy.profile) > 500
    assert {table.buckets.attribute for table in eddy.profile.tables()} <= {"kind", "x"}
    cold = calls.count.total()
    calls.count.clear()
    eddy.at(1).screen(rows.slice(1_000, 1_000))
    assert calls.count.total() < 0.9 * cold


def test_the_gain_ratio_finds_the_attribute_that_tells():
    tells = np.array([[50.0, 0.0, 0.0], [0.0, 50.0, 0.0]])
    is_idle = np.array([[25.0, 25.0, 0.0], [25.0, 25.0, 0.0]])
    is_constant = np.array([[50.0], [50.0]])
    many = np.array([[1.0] * 50 + [0.0] * 50, [0.0] * 50 + [1.0] * 50])
    ratios = gain_ratios([is_idle, tells, is_constant, many])
    assert ratios.argmax() == 1
    assert ratios[1] == pytest.approx(1.0)
    assert ratios[3] == pytest.approx(1.0 / np.log2(100))


def test_buckets_hold_as_many_each_and_know_what_they_do_not_know():
    column = pa.array([None, math.nan, *np.arange(120.0)])
    buckets = Buckets.of("x", column)
    places = buckets.places(pa.RecordBatch.from_pydict({"x": column}))
    assert places[:2].tolist() == [buckets.size - 1] * 2
    assert set(np.bincount(places[2:]).tolist()) == {10}
    texts = Buckets.of("s", pa.array(["a", "b", None, "b"]))
    seen = pa.RecordBatch.from_pydict({"s": pa.array(["b", "c", None, "a"])})
    assert texts.places(seen).tolist() == [0, 2, 2, 1]


def test_nothing_is_known_of_an_empty_profile():
    assert EddyProfile.empty([1e-6, 1e-6]).tables() == ()


# ── refused ───────────────────────────────────────────────────────────────────────────────────────


def refused(plan: Plan, tmp_path: Path) -> str:
    with pytest.raises(PlanError) as found:
        run_local(plan.query, Place(tmp_path / "run"), plan=plan)
    return str(found.value)


def test_meshes_that_do_not_fit_are_refused(tmp_path):
    write_kinds(tmp_path / "in", 1, 3)
    query = screened_query(tmp_path / "in", TWO, Calls())
    plan = by_kind(query, ["012b"] * 3)
    a, b = plan.meshes
    tests = {
        "route 0 of b leaves out a": replace(b, routes=(MeshRoute(()),)),
        "looks at color, which a does not have": replace(
            a, classifier=Split("color", 1.0, frozenset(), Goes(0), Goes(1))
        ),
        "tests kind as a number, but it is STRING": replace(
            a, classifier=Split("kind", 1.0, frozenset(), Goes(0), Goes(1))
        ),
        "sends tuples to route 7, but there are 3": replace(a, classifier=Goes(7)),
    }
    for message, mesh in tests.items():
        meshes = tuple(mesh if each.driver == mesh.driver else each for each in (a, b))
        assert message in refused(replace(plan, meshes=meshes), tmp_path)
    assert "the plan has meshes of a\n" in refused(replace(plan, meshes=(a,)), tmp_path)
    with pytest.raises(PlanError, match="the mesh aggregates a early"):
        routing_of(replace(plan, early=("a",)), Layout(plan.query))


def test_a_mesh_over_rows_windows_is_refused(tmp_path):
    write_kinds(tmp_path / "in", 1, 3)
    query = screened_query(tmp_path / "in", TWO.replace("[NOW]", "[ROWS 3]"), Calls())
    assert "a mesh does not join ROWS windows" in refused(by_kind(query, ["012b"] * 3), tmp_path)


def test_an_eddy_of_many_inputs_is_refused(tmp_path):
    query = random_case(3).query
    seed = 3
    while len(query.inputs) < 3:
        seed += 1
        query = random_case(seed).query
    query = write_case(random_case(seed), tmp_path / "in")
    message = refused(Eddy(query), tmp_path)
    assert "an eddy does not join" in message
    assert "--engine local --eager" in message


# ── bad input ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("format_", ["csv", "json"])
@pytest.mark.parametrize("plan", ["mesh", "eddy"])
def test_what_only_a_plan_looks_at_makes_no_row_malformed(format_, plan, tmp_path):
    """A row is as good under one plan as under another."""
    (tmp_path / "in").mkdir()
    lines = {
        "csv": "ts,id,color\n1,1,7\n2,x,7\n3,3,red\n4,4,\n",
        "json": """{"ts": 1, "id": 1, "color": 7}\n{"ts": 2, "id": "x", "color": 7}
{"ts": 3, "id": 3, "color": "red"}\n{"ts": 4, "id": 4}\n""",
    }
    (tmp_path / "in" / f"a.{format_}").write_text(lines[format_])
    query = parse(f"""
CREATE STREAM a (ts BIGINT, id BIGINT, color INT) WITH (format='{format_}',
  path='{tmp_path}/in', timestamp='ts', unit='s', malformed='drop');
SELECT a.id AS id FROM a [NOW] WHERE a.id > 0 AND a.id < 9
""")
    first, second = map(Screen, query.filters)
    routes = (MeshRoute(((first,), (second,))), MeshRoute(((second,), (first,))))
    tree = Split("color", 9.0, frozenset(), Goes(0), Goes(1))
    mesh = MeshJoin(query, (DriverMesh("a", tree, routes, (0.5, 0.5)),))
    place = Place(tmp_path)
    reports = run_local(query, place, plan=mesh if plan == "mesh" else Eddy(query))
    assert sorted(place.results(query)) == [(1,), (3,), (4,)]
    assert sum(report.malformed["a"] for report in reports) == 1


def test_a_function_that_raises_is_an_error_of_the_query(tmp_path):
    write_kinds(tmp_path / "in", 1, 20)
    for name, plan_of in (("mesh", lambda q: by_kind(q, ["012"] * 3)), ("eddy", Eddy)):
        query = screened_query(tmp_path / "in", ONE, Calls(fails_at=5))
        with pytest.raises(EvaluationError, match="failed: ValueError: not now"):
            run_local(query, Place(tmp_path / name), plan=plan_of(query))


# ── on Spark ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.spark
@pytest.mark.parametrize("seed", [5, 24])
def test_meshes_on_spark_give_what_the_reference_does(seed, spark, tmp_path):
    rng = Random(f"mesh {seed}")
    case = drawn_case(seed, rng)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)
    run_spark(spark, query, place, plan=random_mesh(query, rng))
    assert canonical(place.results(query)) == canonical(answer(query, case.batches))


@pytest.mark.spark
def test_eddies_and_uncertain_routes_on_spark_give_the_same_rows(spark, tmp_path):
    write_kinds(tmp_path / "in", 3, 200)
    where = TWO.replace("one(a.x) AND two(a.x) AND three(a.x)", PLAIN)
    query = screened_query(tmp_path / "in", where, Calls())
    plain = Place(tmp_path / "plain")
    run_local(query, plain)
    for name, plan in (("eddy", Eddy(query, 7)), ("mesh", uncertain(query))):
        place = Place(tmp_path / name)
        run_spark(spark, query, place, plan=plan)
        assert canonical(place.results(query)) == canonical(plain.results(query))
