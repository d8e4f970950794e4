"""Calibration: unit costs follow from runs, are kept, and say what plans will take."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from planning import random_problem
from typer.testing import CliRunner

from penstock.cli.doctor import calibration
from penstock.cli.main import app
from penstock.engine.layout import Layout
from penstock.engine.local.experiment import read_all
from penstock.engine.routing import routing_of
from penstock.monitor.batch_runs import run_in_process
from penstock.monitor.calibrate import (
    BATCHES,
    LABORATORY,
    calibrate_batches,
    calibrate_laboratory,
)
from penstock.monitor.designed import batch_plans, batched, designed, plans_for, viewed
from penstock.monitor.fit import Run, fit
from penstock.monitor.timing import timed
from penstock.monitor.workload import MadeStream, Workload
from penstock.optimize.enumerate import all_trees
from penstock.optimize.estimate import needed_by
from penstock.optimize.problem import Problem
from penstock.optimize.rounds import rounds_of
from penstock.optimize.tree_search import TreeSearch
from penstock.plan.choose import default_plan
from penstock.plan.tree import TreeJoin
from penstock.stats.calibration import calibrated, keep
from penstock.stats.costs import Costs
from penstock.stats.guess import DEFAULT_COSTS, complete

COSTS = Costs(
    "measured", insert=6e-9, expire=3e-9, hash=2e-9, probe=20e-9, compare=5e-9, arrive=15e-9,
    result=18e-9, keep=13e-9, search=10e-9,
)  # fmt: skip
CHAIN = Workload(
    (
        MadeStream("A", 200.0, {"a": 20}, extent=0.1),
        MadeStream("B", 100.0, {"a": 20, "b": 5}, rows=10),
        MadeStream("C", 50.0, {"b": 5}, extent=0.2, passing=0.5),
    ),
    seconds=20.0,
)


def ignore(done: int, total: int) -> None:
    """Progress that nobody watches."""


def problem_of(workload: Workload, costs: Costs = COSTS) -> Problem:
    query = workload.query()
    return Problem(query, complete(query, workload.statistics(), costs))


@pytest.fixture
def user_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's file of this test's own, not yet written."""
    path = tmp_path / "costs.toml"
    monkeypatch.setenv("PENSTOCK_CALIBRATION", str(path))
    return path


# Workloads


def test_a_workload_is_as_its_statistics_say() -> None:
    tuples = read_all(CHAIN.query())
    assert {alias: len(rows) for alias, rows in tuples.items()} == pytest.approx(
        {"A": 4_000, "B": 2_000, "C": 1_000}, rel=0.1
    )
    assert sorted(set(tuples["B"]["b"].to_pylist())) == list(range(5))
    problem = problem_of(CHAIN)
    assert [flow.window for flow in problem.inputs] == pytest.approx([20.0, 10.0, 5.0])
    assert problem.fraction(problem.everything) == pytest.approx(1 / 20 / 5)
    run = timed(default_plan(problem.query), tuples)
    assert run.results > 0


def test_a_scaled_workload_has_as_many_partners_for_each_tuple() -> None:
    before, after = (problem_of(w) for w in (CHAIN, CHAIN.scaled(10)))
    for one, other in zip(before.inputs, after.inputs, strict=True):
        assert other.rate == pytest.approx(10 * one.rate)
        assert other.window == pytest.approx(10 * one.window)
    whole = before.everything
    assert after.rates[whole] == pytest.approx(10 * before.rates[whole])


def test_batches_come_by_event_time() -> None:
    plan = default_plan(replace(CHAIN, batches=4).query())
    assert run_in_process(plan).rounds == 4 * routing_of(plan, Layout(plan.query)).rounds


# The fit


def test_costs_are_found_again_in_what_they_give() -> None:
    runs = []
    for workload in designed(1_000):
        problem = problem_of(workload)
        runs += [
            Run(problem, plan, 10.0, 10.0 * needed_by(problem, plan)) for plan in plans_for(problem)
        ]
    found = fit(runs, LABORATORY, pull=0.0)
    assert found.median_error < 1e-6
    for kind in ("arrive", "insert", "expire", "hash", "probe", "compare", "result", "keep"):
        assert getattr(found.costs, kind) == pytest.approx(getattr(COSTS, kind), rel=1e-3)


def test_starting_batches_has_its_cost() -> None:
    costs = replace(COSTS, search=0.0, hash=0.0, move=50e-9, batch=0.01, round=0.002)
    runs = []
    for workload in batched(1_000):
        problem = problem_of(workload, costs)
        for plan in plans_for(problem):
            rounds = 3 * rounds_of(problem, plan)
            busy = 10.0 * needed_by(problem, plan) + 3 * costs.batch + rounds * costs.round
            runs.append(Run(problem, plan, 10.0, busy, 3, rounds))
    found = fit(runs, BATCHES, pull=0.0).costs
    assert (found.batch, found.round) == pytest.approx((0.01, 0.002), rel=1e-3)


def test_folding_and_tallying_are_told_apart() -> None:
    costs = replace(COSTS, search=0.0, hash=0.0, fold=130e-9, tally=40e-9)
    runs = []
    for workload in (*batched(1_000), *viewed(1_000)):
        problem = problem_of(workload, costs)
        plans = batch_plans(problem)
        runs += [Run(problem, plan, 10.0, 10.0 * needed_by(problem, plan), 3, 6) for plan in plans]
    found = fit(runs, BATCHES, pull=0.0)
    assert found.median_error < 1e-6
    assert (found.costs.fold, found.costs.tally) == pytest.approx((130e-9, 40e-9), rel=1e-3)


def test_views_are_run_late_and_early() -> None:
    for workload in viewed(1_000):
        problem = problem_of(workload)
        sets = {plan.early for plan in batch_plans(problem)}
        assert sets == {(), ("A",), ("B",), ("A", "B")}
        distinct = problem.known.distinct["A"]
        assert distinct["g"].value == workload.streams[0].groups


def test_kinds_that_cannot_be_told_apart_share_by_their_defaults() -> None:
    problem = problem_of(CHAIN)
    plan = default_plan(problem.query)
    runs = [Run(problem, plan, seconds, seconds) for seconds in (1.0, 2.0)]
    found = fit(runs, ({"probe": 1.0}, {"compare": 1.0})).costs
    assert found.probe / found.compare == pytest.approx(
        DEFAULT_COSTS.probe / DEFAULT_COSTS.compare, rel=0.01
    )
    measured = replace(problem.known, costs=found)
    assert needed_by(Problem(problem.query, measured), plan) == pytest.approx(1.0, rel=0.01)


@pytest.mark.parametrize("seed", range(20))
def test_tree_search_counts_every_kind_of_cost(seed: int) -> None:
    costs = replace(COSTS, keep=10.0 ** -(6 + seed % 4), search=1e-7)
    problem = random_problem(seed, 3 + seed % 3, costs)
    works = [needed_by(problem, TreeJoin(problem.query, tree)) for tree in all_trees(problem)]
    best = TreeSearch(problem).best()
    assert best is not None
    assert needed_by(problem, TreeJoin(problem.query, best)) == pytest.approx(min(works), rel=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_rounds_are_those_of_the_engine(seed: int) -> None:
    problem = random_problem(seed, 2 + seed % 4)
    plans = [TreeJoin(problem.query, tree) for tree in all_trees(problem)]
    layout = Layout(problem.query)
    for plan in (*plans, default_plan(problem.query)):
        assert rounds_of(problem, plan) == routing_of(plan, layout).rounds


# Measuring and keeping


def test_the_laboratory_is_measured() -> None:
    found = calibrate_laboratory(ignore, quick=True)
    assert found.costs.origin == "measured"
    assert found.costs.probe + found.costs.hash > 0
    assert found.costs.move == found.costs.batch == 0
    assert len(found.errors) > 50
    assert found.median_error < 0.5


def test_batches_in_this_process_are_measured() -> None:
    found = calibrate_batches(run_in_process, ignore, quick=True)
    assert sum((found.costs.arrive, found.costs.insert, found.costs.probe, found.costs.move)) > 0
    assert 0 < found.costs.fold + found.costs.tally < 1e-5
    assert found.median_error < 1.0


def test_the_command_keeps_what_it_measures(user_file: Path) -> None:
    keep({"spark": Costs("measured", probe=1e-6)})
    command = ["doctor", "--calibrate", "--quick", "--engine", "laboratory", "--format", "json"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0
    said = json.loads(done.stdout)
    assert said["file"] == str(user_file)
    assert list(said["engines"]) == ["laboratory"]
    kept = calibrated("laboratory")
    assert kept is not None
    assert kept.arrive == pytest.approx(said["engines"]["laboratory"]["costs"]["arrive"], rel=1e-3)
    other = calibrated("spark")
    assert other is not None
    assert other.probe == 1e-6


def test_the_doctor_says_whether_it_was_done(user_file: Path) -> None:
    assert (calibration().status, calibration().found) == ("warning", "never done")
    keep({"local": COSTS})
    assert calibration().status == "ok"
    assert calibration().found.startswith("local, 20")
    user_file.write_text("[local]\nprobe = -1\n")
    assert calibration().status == "warning"
    assert "local.probe = -1 is not a cost" in calibration().found


def test_engine_goes_with_calibrate() -> None:
    done = CliRunner().invoke(app, ["doctor", "--quick"])
    assert done.exit_code == 2
