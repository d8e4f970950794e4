"""Uncertain routes: the lottery of operators, and what it learns."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from penstock.engine.local import open_run
from penstock.engine.routes.ruster_lottery import DRAWS, RusterLottery
from penstock.engine.run.options import RunOptions
from penstock.plan.mesh import (
    MeshRoute,
    Operator,
    Screen,
)
from support.engines.runs import (
    Place,
)
from support.plans.screened import (
    ONE,
    TWO,
    Calls,
    by_kind,
    screened_query,
    uncertain,
    write_kinds,
)


def test_the_lottery_learns_which_operator_goes_first(tmp_path: Path) -> None:
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
        for number, pool in enumerate(lottery.draws(plan, batch)["a"]):
            assert len(pool) == DRAWS
            assert all(route.is_certain for route in pool)
            firsts.update((number, route.operators[0]) for route in pool)
    assert all(firsts[number, screens[number]] > 80 * DRAWS for number in range(3))


def test_the_lottery_draws_every_order_as_long_as_nothing_is_known(tmp_path: Path) -> None:
    plan = uncertain(screened_query(tmp_path, TWO, Calls()))
    drawn = [
        route.operators for n in range(100) for route in RusterLottery().draws(plan, n)["a"][0]
    ]
    assert len(set(drawn)) == 24


def test_flows_of_uncertain_routes_are_told(tmp_path: Path) -> None:
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
    assert {(driver, operator) for driver, _, operator in lottery.went_in} >= {
        ("a", name) for name in names
    }
    for number, condition in enumerate(query.filters):
        key = ("a", number, str(condition))
        assert lottery.came_out[key] < 0.3 * lottery.went_in[key]
