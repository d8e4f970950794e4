"""Meshes and eddies on the batch engines: whatever the routes, the results are the query's."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from penstock.cql import parse
from penstock.engine.local import open_run
from penstock.engine.routes.routing import routing_of
from penstock.engine.rows.layout import Layout
from penstock.engine.run.options import RunOptions
from penstock.errors import EvaluationError
from penstock.plan.mesh import (
    DriverMesh,
    Eddy,
    Goes,
    MeshJoin,
    MeshRoute,
    Screen,
    Split,
)
from penstock.plan.multiway import Probe
from penstock.plan.plan import Plan
from penstock.query import Query
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
from support.engines.viewed_runs import told_and_expected
from support.plans.meshes import random_mesh, timed
from support.plans.screened import (
    ONE,
    PLAIN,
    TWO,
    Calls,
    by_kind,
    screened_query,
    uncertain,
    write_kinds,
)
from support.plans.trees import CHAIN, COMMON, TIMES, assert_only_what_counts_is_there, long_query
from support.streams.cases import Case, canonical, random_case, random_view, write_case
from support.streams.views import expected as expected_view
from support.streams.views import told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEEDS = range(80)


def drawn_case(seed: int, rng: Random) -> Case:
    return timed(random_case(seed), rng)


def any_plan(query: Query, rng: Random) -> Plan:
    """Mostly meshes; each puts other filters after its probes."""
    kind = rng.random()
    if kind < 0.6:
        return random_mesh(query, rng)
    return random_tree(query, rng) if kind < 0.8 else planned(query, random_plan(query, rng))


# ── in one process ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", SEEDS)
def test_meshes_give_what_the_reference_does(seed: int, tmp_path: Path) -> None:
    rng = Random(f"mesh {seed}")
    case = drawn_case(seed, rng)
    query = write_case(case, tmp_path / "in")
    place, drain = Place(tmp_path), rng.random() < 0.5
    plan = random_mesh(query, rng)
    run_local(query, place, plan=plan, drain=drain, partitions=rng.randint(1, 3))
    assert canonical(place.results(query)) == canonical(answer(query, case.batches, drain))


def test_the_meshes_cover_all_there_is() -> None:
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
def test_plans_may_change_at_batch_boundaries(seed: int, tmp_path: Path) -> None:
    """The filters that the first plan lets wait, wait in all; no other plan lets others wait."""
    rng = Random(f"mesh boundary {seed}")
    case = drawn_case(seed, rng)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)
    run_replanning(query, place, rng, any_plan)
    assert canonical(place.results(query)) == canonical(answer(query, case.batches))
    assert_only_what_counts_is_there(place)


@pytest.mark.parametrize("seed", range(500, 504))
def test_plans_may_change_at_restarts(seed: int, tmp_path: Path) -> None:
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
def test_meshes_leave_nothing_of_their_own_in_the_state(where: str, tmp_path: Path) -> None:
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
def test_views_over_a_mesh_are_what_the_reference_says(seed: int, tmp_path: Path) -> None:
    rng = Random(f"mesh view {seed}")
    found, wanted = told_and_expected(timed(random_view(seed), rng), tmp_path, rng, random_mesh)
    assert found == wanted


@pytest.mark.parametrize("seed", range(700, 704))
def test_views_may_change_between_early_aggregation_and_a_mesh(seed: int, tmp_path: Path) -> None:
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


def test_what_waits_in_the_state_stays_there_for_other_plans(tmp_path: Path) -> None:
    """A plan that lets no filter wait goes on from state that was not filtered, and vice versa."""
    write_kinds(tmp_path / "in", 6, 12)
    query = screened_query(tmp_path / "in", TWO.replace("a [NOW]", "a [RANGE 1 MINUTE]"), Calls())
    plain = Place(tmp_path / "plain")
    run_local(query, plain)
    meshes = [by_kind(query, orders) for orders in (["b012"] * 3, ["012b", "b201", "2b10"])]
    plans: list[Plan] = [planned(query), *meshes]
    for turn in range(3):
        place = Place(tmp_path / str(turn))
        for step in range(3):
            with first_files_only(query, 2 * step + 2):
                plan = plans[(turn + step) % 3]
                run_local(query, place, plan=plan, drain=step == 2, partitions=2)
        assert canonical(place.results(query)) == canonical(plain.results(query))


def test_a_batch_that_failed_is_run_again(tmp_path: Path) -> None:
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


# ── bad input ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("format_", ["csv", "json"])
@pytest.mark.parametrize("plan", ["mesh", "eddy"])
def test_what_only_a_plan_looks_at_makes_no_row_malformed(
    format_: str, plan: str, tmp_path: Path
) -> None:
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


def test_a_function_that_raises_is_an_error_of_the_query(tmp_path: Path) -> None:
    write_kinds(tmp_path / "in", 1, 20)
    for name, plan_of in (("mesh", lambda q: by_kind(q, ["012"] * 3)), ("eddy", Eddy)):
        query = screened_query(tmp_path / "in", ONE, Calls(fails_at=5))
        with pytest.raises(EvaluationError, match="failed: ValueError: not now"):
            run_local(query, Place(tmp_path / name), plan=plan_of(query))


# ── on Spark ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.spark
@pytest.mark.parametrize("seed", [5, 24])
def test_meshes_on_spark_give_what_the_reference_does(
    seed: int, spark: SparkSession, tmp_path: Path
) -> None:
    rng = Random(f"mesh {seed}")
    case = drawn_case(seed, rng)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)
    run_spark(spark, query, place, plan=random_mesh(query, rng))
    assert canonical(place.results(query)) == canonical(answer(query, case.batches))


@pytest.mark.spark
def test_eddies_and_uncertain_routes_on_spark_give_the_same_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_kinds(tmp_path / "in", 3, 200)
    where = TWO.replace("one(a.x) AND two(a.x) AND three(a.x)", PLAIN)
    query = screened_query(tmp_path / "in", where, Calls())
    plain = Place(tmp_path / "plain")
    run_local(query, plain)
    for name, plan in (("eddy", Eddy(query, 7)), ("mesh", uncertain(query))):
        place = Place(tmp_path / name)
        run_spark(spark, query, place, plan=plan)
        assert canonical(place.results(query)) == canonical(plain.results(query))
