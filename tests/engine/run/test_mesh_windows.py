"""Meshes over ROWS windows and with early aggregation: the results are those of the reference."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from penstock.engine.routes.routing import routing_of
from penstock.engine.rows.layout import Layout
from penstock.plan.mesh import MeshJoin
from penstock.plan.plan import Plan
from penstock.plan.text.parse import forced_plan, render_plan
from penstock.query import Query
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
from support.plans.meshes import counted, grouped, random_mesh, timed
from support.plans.screened import TWO, Calls, by_kind, screened_query, uncertain, write_kinds
from support.streams.cases import Case, canonical, random_case, random_view, write_case
from support.streams.views import expected as expected_view
from support.streams.views import told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEEDS = range(1_000, 1_060)
VIEWS = range(1_200, 1_230)


def counted_case(seed: int, rng: Random) -> Case:
    return counted(random_case(seed), rng)


def any_mesh(query: Query, rng: Random) -> MeshJoin:
    return grouped(random_mesh(query, rng), rng)


def early_mesh(query: Query, rng: Random) -> MeshJoin:
    """A mesh in which some inputs are folded before they are joined."""
    early = tuple(a for a in query.aliases if rng.random() < 0.6) or query.aliases[:1]
    return replace(any_mesh(query, rng), early=early)


# ── ROWS windows ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", SEEDS)
def test_meshes_over_rows_windows_give_what_the_reference_does(seed: int, tmp_path: Path) -> None:
    rng = Random(f"mesh rows {seed}")
    case = counted_case(seed, rng)
    query = write_case(case, tmp_path / "in")
    place, drain = Place(tmp_path), rng.random() < 0.5
    plan = any_mesh(query, rng)
    run_local(query, place, plan=plan, drain=drain, partitions=rng.randint(1, 3))
    assert canonical(place.results(query)) == canonical(answer(query, case.batches, drain))


def test_the_cases_cover_what_waits() -> None:
    covered: Counter[str] = Counter()
    for seed in SEEDS:
        rng = Random(f"mesh rows {seed}")
        plan = any_mesh(counted_case(seed, rng).query, rng)
        routing = routing_of(plan, Layout(plan.query))
        covered["several"] += any(each.are_several for each in routing.rusters)
        covered["waiting"] += any(len(c.streams) == 1 for c in plan.query.thetas)
        covered["windows"] += plan.window is not None
        covered["uncertain"] += any(not r.is_certain for m in plan.meshes for r in m.routes)
    assert min(covered[each] for each in ("several", "waiting", "windows", "uncertain")) >= 10


@pytest.mark.parametrize("seed", range(1_100, 1_124))
def test_what_waits_is_joined_by_whatever_plan_comes(seed: int, tmp_path: Path) -> None:
    """Tuples that one mesh has classified are released under another, or under no mesh."""
    rng = Random(f"mesh rows boundary {seed}")
    case = counted_case(seed, rng)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)

    def any_plan(query: Query, rng: Random) -> Plan:
        if rng.random() < 0.7:
            return any_mesh(query, rng)
        is_tree = rng.random() < 0.5
        return random_tree(query, rng) if is_tree else planned(query, random_plan(query, rng))

    run_replanning(query, place, rng, any_plan)
    assert canonical(place.results(query)) == canonical(answer(query, case.batches))


def test_a_filter_that_waited_is_not_taken_for_decided(tmp_path: Path) -> None:
    """In one mesh the filters come after the probe, in the other before it."""
    write_kinds(tmp_path / "in", 6, 12)
    select = TWO.replace("[NOW]", "[ROWS 9]")
    query = screened_query(tmp_path / "in", select, Calls())
    plain = Place(tmp_path / "plain")
    run_local(query, plain)
    meshes = [by_kind(query, orders) for orders in (["b012"] * 3, ["012b", "b201", "2b10"])]
    plans = [*meshes, uncertain(query)]
    for turn in range(3):
        place = Place(tmp_path / str(turn))
        for step in range(6):
            with first_files_only(query, step + 1):
                run_local(query, place, plan=plans[(turn + step) % 3], drain=step == 5)
        assert canonical(place.results(query)) == canonical(plain.results(query))
    assert canonical(plain.results(query)).total() > 10


@pytest.mark.parametrize("seed", VIEWS)
def test_views_over_rows_windows_take_the_main_routes(seed: int, tmp_path: Path) -> None:
    rng = Random(f"mesh rows view {seed}")
    plan_of = any_mesh if seed % 2 else early_mesh
    found, wanted = told_and_expected(counted(random_view(seed), rng), tmp_path, rng, plan_of)
    assert found == wanted


# ── early aggregation ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", range(1_300, 1_340))
def test_meshes_may_aggregate_early(seed: int, tmp_path: Path) -> None:
    rng = Random(f"mesh early {seed}")
    found, wanted = told_and_expected(timed(random_view(seed), rng), tmp_path, rng, early_mesh)
    assert found == wanted


@pytest.mark.parametrize("seed", range(1_400, 1_408))
def test_early_meshes_may_change_at_batch_boundaries(seed: int, tmp_path: Path) -> None:
    rng = Random(f"mesh early boundary {seed}")
    case = timed(random_view(seed), rng)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)

    def any_plan(query: Query, rng: Random) -> Plan:
        if rng.random() < 0.7:
            return early_mesh(query, rng)
        return replace(planned(query), early=rng.choice(((), query.aliases[:1], query.aliases)))

    run_replanning(query, place, rng, any_plan)
    assert told(place, query) == expected_view(case, query)


# ── forced by text ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", range(1_500, 1_512))
def test_a_mesh_from_its_text_gives_the_same_results(seed: int, tmp_path: Path) -> None:
    rng = Random(f"mesh forced {seed}")
    case = counted_case(seed, rng) if seed % 2 else timed(random_case(seed), rng)
    query = write_case(case, tmp_path / "in")
    text = render_plan(any_mesh(query, rng))
    place = Place(tmp_path)
    run_local(query, place, plan=forced_plan(query, text))
    assert canonical(place.results(query)) == canonical(answer(query, case.batches))


# ── on Spark ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.spark
@pytest.mark.parametrize("seed", [1_003, 1_010])
def test_rows_windows_on_spark(seed: int, spark: SparkSession, tmp_path: Path) -> None:
    rng = Random(f"mesh rows {seed}")
    case = counted_case(seed, rng)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)
    run_spark(spark, query, place, plan=forced_plan(query, render_plan(any_mesh(query, rng))))
    assert canonical(place.results(query)) == canonical(answer(query, case.batches))


@pytest.mark.spark
@pytest.mark.parametrize("seed", [1_301, 1_306])
def test_early_aggregation_on_spark(seed: int, spark: SparkSession, tmp_path: Path) -> None:
    rng = Random(f"mesh early {seed}")
    case = timed(random_view(seed), rng)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)
    run_spark(spark, query, place, plan=early_mesh(query, rng))
    assert told(place, query) == expected_view(case, query)
