"""Routes of meshes: filters and probes in the order of each ruster; meshes that do not fit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from penstock.engine.routes.mesh_routes import Draws, mesh_routing
from penstock.engine.routes.ruster_lottery import RusterLottery
from penstock.engine.routes.rusters import Rusters
from penstock.engine.rows.layout import Layout
from penstock.errors import PlanError
from penstock.plan.mesh import (
    Goes,
    MeshJoin,
    MeshRoute,
    Split,
)
from penstock.plan.plan import Plan
from support.engines.runs import (
    Place,
    run_local,
)
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
from support.streams.cases import canonical

# ── routes at work ────────────────────────────────────────────────────────────────────────────────


def test_each_ruster_meets_its_own_filter_first(tmp_path: Path) -> None:
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


def test_filters_come_before_between_and_after_probes(tmp_path: Path) -> None:
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


# ── refused ───────────────────────────────────────────────────────────────────────────────────────


def refused(plan: Plan, tmp_path: Path) -> str:
    with pytest.raises(PlanError) as found:
        run_local(plan.query, Place(tmp_path / "run"), plan=plan)
    return str(found.value)


def test_meshes_that_do_not_fit_are_refused(tmp_path: Path) -> None:
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


# ── classification windows and rusters ────────────────────────────────────────────────────────────


def kinds_of(*kinds: int) -> pa.RecordBatch:
    """Tuples that the classifier of `by_kind` sends down the routes of these numbers."""
    return pa.RecordBatch.from_pydict(
        {
            "id": list(range(len(kinds))),
            "kind": [f"kind {kind}" for kind in kinds],
            "x": [float(kind) for kind in kinds],
        }
    )


def rusters_of(plan: MeshJoin, draws: Draws | None = None) -> Rusters:
    found = mesh_routing(plan, Layout(plan.query), draws).rusters_of("a")
    assert found is not None
    return found


def test_routes_that_few_tuples_of_a_window_take_go_with_the_most(tmp_path: Path) -> None:
    plain = TWO.replace(
        "one(a.x) AND two(a.x) AND three(a.x)", "a.x > -1 AND a.x > -2 AND a.x > -3"
    )
    query = screened_query(tmp_path, plain, Calls())
    plan = replace(by_kind(query, ["0b12", "b120", "12b0"]), window=4, ruster=2)
    sorted_out = rusters_of(plan).screen(kinds_of(0, 0, 1, 0, 2, 2, 1, 1, 2)).rusters
    assert sorted_out is not None
    assert sorted_out.tolist() == [0, 0, 0, 0, 2, 2, 1, 1, 2]


def test_every_ruster_draws_its_own_order(tmp_path: Path) -> None:
    query = screened_query(
        tmp_path, TWO.replace("one(a.x) AND two(a.x) AND three(a.x)", PLAIN), Calls()
    )
    plan = replace(uncertain(query), window=3)
    rows = kinds_of(*([0] * 300))
    found = rusters_of(plan, RusterLottery().draws(plan, 5)).at(5)
    ways = found.screen(rows, 7).rusters
    assert ways is not None
    by_window = ways.reshape(-1, 3)
    assert (by_window == by_window[:, :1]).all()
    assert len(set(by_window[:, 0].tolist())) > 1
    again = found.screen(rows, 7).rusters
    assert again is not None
    assert (again == ways).all()
