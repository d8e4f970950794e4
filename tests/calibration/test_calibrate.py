"""Calibration: unit costs follow from runs, are kept, and say what plans will take."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from penstock.calibration import verdict
from penstock.calibration.batch_runs import run_in_process
from penstock.calibration.calibrate import QUICK, calibrate_laboratory
from penstock.calibration.designed import (
    batch_plans,
    batched,
    designed,
    plans_for,
    spark_plans,
    viewed,
    viewed_on_spark,
)
from penstock.calibration.fit import MeasuredRun, fit
from penstock.calibration.meshes import classify_seconds, route_seconds
from penstock.calibration.timing import timed
from penstock.calibration.unit import BATCHES, LABORATORY, Unit, spark_units
from penstock.calibration.verdict import reasons_against
from penstock.calibration.workload import MadeStream, Workload
from penstock.cli.calibration import calibration_text
from penstock.cli.doctor import calibration
from penstock.cli.main import app
from penstock.engine.routes.routing import routing_of
from penstock.engine.rows.layout import Layout
from penstock.engines import ENGINES
from penstock.errors import StatsError
from penstock.lab.experiment import read_all
from penstock.optimize.estimate import needed_by
from penstock.optimize.joins.enumerate import all_trees
from penstock.optimize.joins.tree_search import TreeSearch
from penstock.optimize.mesh.plans import ruster_seconds
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.rounds import rounds_of
from penstock.plan.default_plan import default_plan
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from penstock.plan.tree import TreeJoin
from penstock.stats.calibration import calibrated, keep
from penstock.stats.costs import GUESSED_ROUTE, Costs
from penstock.stats.guess import complete
from penstock.stats.plausible import faults_of
from support.plans.planning import random_problem

COSTS = Costs(
    "measured", insert=6e-9, expire=3e-9, hash=2e-9, probe=20e-9, compare=5e-9, arrive=15e-9,
    result=18e-9, keep=13e-9, search=10e-9,
)  # fmt: skip
BATCHED = Costs(
    "measured", insert=70e-9, expire=35e-9, probe=60e-9, compare=10e-9, arrive=200e-9, result=10e-9,
    keep=100e-9, move=20e-9, batch=3e-3, round=2e-3, fold=170e-9, tally=80e-9,
)  # fmt: skip
CHAIN = Workload(
    (
        MadeStream("A", 200.0, {"a": 20}, extent=0.1),
        MadeStream("B", 100.0, {"a": 20, "b": 5}, rows=10),
        MadeStream("C", 50.0, {"b": 5}, extent=0.2, passing=0.5),
    ),
    seconds=20.0,
)


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
            MeasuredRun(problem, plan, 10.0, 10.0 * needed_by(problem, plan))
            for plan in plans_for(problem)
        ]
    found = fit(runs, LABORATORY, pull=0.0)
    assert found.median_error < 1e-6
    for kind in ("arrive", "insert", "expire", "hash", "probe", "compare", "result", "keep"):
        assert getattr(found.costs, kind) == pytest.approx(getattr(COSTS, kind), rel=1e-3)


def test_starting_batches_has_its_cost() -> None:
    costs = replace(COSTS, search=0.0, hash=0.0, move=50e-9, batch=0.01, round=0.002)
    runs = []
    for workload in batched(1_000, 4):
        problem = problem_of(workload, costs)
        for plan in plans_for(problem):
            rounds = 3 * rounds_of(problem, plan)
            busy = 10.0 * needed_by(problem, plan) + 3 * costs.batch + rounds * costs.round
            runs.append(MeasuredRun(problem, plan, 10.0, busy, 3, rounds))
    found = fit(runs, BATCHES, pull=0.0).costs
    assert (found.batch, found.round) == pytest.approx((0.01, 0.002), rel=1e-3)


def test_folding_and_tallying_are_told_apart() -> None:
    costs = replace(COSTS, search=0.0, hash=0.0, fold=130e-9, tally=40e-9)
    runs = []
    for workload in (*batched(1_000, 4), *viewed(1_000, 4)):
        problem = problem_of(workload, costs)
        plans = batch_plans(problem)
        runs += [
            MeasuredRun(problem, plan, 10.0, 10.0 * needed_by(problem, plan), 3, 6)
            for plan in plans
        ]
    found = fit(runs, BATCHES, pull=0.0, floor=0.0)
    assert found.median_error < 1e-6
    assert (found.costs.fold, found.costs.tally) == pytest.approx((130e-9, 40e-9), rel=1e-3)


def test_views_are_run_late_and_early() -> None:
    for workload in viewed(1_000, 4):
        problem = problem_of(workload)
        sets = {plan.early for plan in batch_plans(problem)}
        assert sets == {(), ("A",), ("B",), ("A", "B")}
        distinct = problem.known.distinct["A"]
        assert distinct["g"].value == workload.streams[0].groups


def test_kinds_that_cannot_be_told_apart_share_by_their_usual_costs() -> None:
    problem = problem_of(CHAIN)
    plan = default_plan(problem.query)
    runs = [MeasuredRun(problem, plan, seconds, seconds) for seconds in (1.0, 2.0)]
    found = fit(runs, (Unit({"probe": 1.0}, 3e-7), Unit({"compare": 1.0}, 1e-8))).costs
    assert found.probe / found.compare == pytest.approx(30, rel=0.01)
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
    plans: list[Plan] = [TreeJoin(problem.query, tree) for tree in all_trees(problem)]
    layout = Layout(problem.query)
    for plan in (*plans, default_plan(problem.query)):
        assert rounds_of(problem, plan) == routing_of(plan, layout).rounds


# What no machine can have


def made_up_runs(costs: Costs, off: float = 0.0) -> list[MeasuredRun]:
    """Runs in batches that take what the costs say, by turns more and less by some part of it."""
    runs: list[MeasuredRun] = []
    for workload in (*batched(1_000, 4), *viewed(1_000, 4)):
        problem = problem_of(workload, costs)
        for plan in batch_plans(problem):
            rounds = 4 * rounds_of(problem, plan)
            steady = workload.seconds * needed_by(problem, plan)
            busy = steady + 4 * costs.batch + rounds * costs.round
            sign = 1 if len(runs) % 2 else -1
            runs.append(
                MeasuredRun(problem, plan, workload.seconds, busy * (1 + sign * off), 4, rounds)
            )
    return runs


def test_a_cost_that_the_runs_do_not_show_is_small_and_not_nothing() -> None:
    """With zero as its floor it came out as zero, or as what rounding leaves of it: 5e-25 s."""
    found = fit(made_up_runs(replace(BATCHED, insert=0.0, expire=0.0)), BATCHES, pull=0.0)
    assert {"insert", "expire"} <= set(found.floored)
    assert found.costs.insert > 1e-9
    assert list(reasons_against("local", found)) == []


def test_joining_on_spark_is_not_faster_than_all_cores() -> None:
    units = spark_units(BATCHED, cores=2)
    fast = {kind: getattr(BATCHED, kind) / 10 for unit in units[:3] for kind in unit.parts}
    found = fit(made_up_runs(replace(BATCHED, **fast, batch=0.2)), units).costs
    assert found.probe == pytest.approx(BATCHED.probe / 2, rel=1e-6)
    assert found.fold == pytest.approx(170e-9 / 2, rel=1e-6)
    assert list(faults_of("spark", found)) == []


def runs_on_spark(costs: Costs) -> Iterator[MeasuredRun]:
    """The runs of a calibration on Spark, as if they took what the costs say."""
    for workload in (*batched(1_000, 4), *viewed_on_spark(1_000, 4)):
        problem = problem_of(workload, costs)
        for plan in spark_plans(problem):
            rounds = 4 * rounds_of(problem, plan)
            busy = workload.seconds * needed_by(problem, plan)
            busy += 4 * costs.batch + rounds * costs.round
            yield MeasuredRun(problem, plan, workload.seconds, busy, 4, rounds)


def test_views_on_spark_tell_what_folding_and_tallying_take_there() -> None:
    """There they take other parts of what they take in one process than joining does."""
    joining = {kind: 0.6 * getattr(BATCHED, kind) for kind in ("insert", "expire", "probe")}
    there = replace(BATCHED, **joining, compare=6e-9, keep=60e-9, fold=400e-9, tally=50e-9)
    there = replace(there, arrive=300e-9, result=30e-9, move=300e-9, batch=1e-4, round=1e-4)
    found = fit(list(runs_on_spark(there)), spark_units(BATCHED, cores=4), pull=0.0).costs
    assert found.fold == pytest.approx(400e-9, rel=1e-3)
    assert found.tally == pytest.approx(50e-9, rel=1e-3)
    assert found.probe == pytest.approx(there.probe, rel=1e-3)


def test_views_on_spark_are_late_folded_and_recomputed() -> None:
    for workload in viewed_on_spark(1_000, 4):
        late, folded, recomputed = spark_plans(problem_of(workload))
        assert (late.early, folded.early) == ((), ("A", "B"))
        assert isinstance(recomputed, MultiwayJoin)
        assert recomputed.recompute == "A"


@pytest.mark.parametrize(
    ("costs", "fault"),
    [
        ({"insert": 5.42e-25}, "insert = 5.42e-25 s, and 1e-10 to 0.001 s are plausible"),
        ({"probe": 0.002}, "probe = 0.002 s, and 1e-10 to 0.001 s are plausible"),
        ({"batch": 300.0}, "batch = 300 s, and 1e-06 to 60 s are plausible"),
        ({"compare": float("nan")}, "compare = nan s, and 1e-10 to 0.001 s are plausible"),
        ({"arrive": 0.0}, "arrive has no cost"),
        ({"fold": None}, "fold has no cost"),
    ],
)
def test_costs_that_no_machine_has_are_named(costs: dict[str, Any], fault: str) -> None:
    assert list(faults_of("spark", BATCHED)) == []
    assert list(faults_of("spark", replace(BATCHED, **costs))) == [fault]


def test_runs_that_the_costs_do_not_explain_speak_against_them() -> None:
    found = fit(made_up_runs(BATCHED, off=0.45), BATCHES)
    assert found.median_error > 0.3
    (reason,) = (each for each in reasons_against("local", found) if each.startswith("half"))
    assert reason.endswith("than these costs say, and 30% is the most that is allowed")
    assert list(reasons_against("local", fit(made_up_runs(BATCHED, off=0.1), BATCHES))) == []


def test_costs_that_explain_no_difference_are_refused() -> None:
    runs = [replace(run, busy=1 + n / 100) for n, run in enumerate(made_up_runs(BATCHED))]
    found = fit(runs, BATCHES)
    assert found.explained < 0.5
    (reason,) = (each for each in reasons_against("local", found) if each.startswith("the costs"))
    assert reason.endswith("of the differences between the runs")


# Measuring and keeping


def test_the_laboratory_is_measured() -> None:
    seen: list[tuple[int, int]] = []
    found = calibrate_laboratory(lambda done, total: seen.append((done, total)), QUICK)
    assert found.costs.origin == "measured"
    assert list(faults_of("laboratory", found.costs)) == []
    assert found.costs.move == found.costs.batch == 0
    assert len(found.errors) > 50
    assert seen == [(done, 22) for done in range(23)]


def asked(*engines: str) -> Result:
    options = [option for engine in engines for option in ("--engine", engine)]
    return CliRunner().invoke(app, ["doctor", "--calibrate", "--quick", *options])


@pytest.fixture
def lenient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is, how well the costs explain the runs is good enough."""
    monkeypatch.setattr(verdict, "MOST_ERROR", float("inf"))
    monkeypatch.setattr(verdict, "LEAST_EXPLAINED", -float("inf"))


@pytest.mark.usefixtures("lenient")
def test_the_command_keeps_what_it_measures(user_file: Path) -> None:
    keep({"spark": BATCHED})
    done = asked("local", "laboratory")
    assert done.exit_code == 0, done.output
    heading, *rows = (line.split() for line in done.stdout.splitlines())
    assert heading == ["seconds", "for", "one", "local", "laboratory"]
    assert {"fold", "search", "error", "R²"} <= {row[0] for row in rows if row}
    assert f"kept in {user_file}: local, laboratory" in done.stdout
    assert "calibrating local: 8 of 8" in done.stderr
    assert "calibrating laboratory: 22 of 22" in done.stderr
    assert calibrated("local") is not None
    assert calibrated("laboratory") is not None
    assert calibrated("spark") == BATCHED


def test_what_is_refused_is_not_kept(user_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep({"laboratory": COSTS})
    before = user_file.read_text()
    monkeypatch.setattr(verdict, "MOST_ERROR", 0.0)
    done = asked("laboratory")
    assert done.exit_code == 1
    assert "the costs of laboratory are implausible and not kept:\n  - half of the " in done.stderr
    assert "hint: repeat it while nothing else runs, without --quick" in done.stderr
    assert "kept in" not in done.stdout
    assert user_file.read_text() == before


def test_engines_have_kinds_of_work_of_their_own() -> None:
    good = {"median_error": 0.05, "explained": 0.9, "runs": 9}
    one = {"costs": {"insert": 1e-9, "fold": 1e-7, "batch": 0.25}, "floored": ["insert"], **good}
    other = {"costs": {"insert": 2e-9, "batch": 0.0, "search": 3e-9}, "floored": [], **good}
    made: Any = {"file": "f", "engines": {"spark": one, "laboratory": other}, "refused": {}}
    assert calibration_text(made) == (
        "seconds for one     spark  laboratory\n"
        "───────────────  ────────  ──────────\n"
        "insert           ≤ 1.0 ns      2.0 ns\n"
        "fold             100.0 ns           –\n"
        "batch            250.0 ms           –\n"
        "search                  –      3.0 ns\n"
        "error              ± 5.0%      ± 5.0%\n"
        "R²                   0.90        0.90\n"
        "≤ the runs show no more of it: it counts as the least that is plausible\n"
        "\n"
        "kept in f: spark, laboratory\n"
    )


@pytest.mark.spark
@pytest.mark.slow
def test_all_engines_are_measured_by_the_command_of_the_readme(user_file: Path) -> None:
    """On a busy machine it may refuse what it measured, and then says so."""
    penstock = Path(sys.executable).with_name("penstock")
    command = [str(penstock), "doctor", "--calibrate", "--quick", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    said = json.loads(done.stdout)
    assert {*said["engines"], *said["refused"]} == {"spark", "local", "laboratory"}
    assert done.returncode == (1 if said["refused"] else 0)
    assert ("implausible and not kept" in done.stderr) == bool(said["refused"])
    assert "calibrating spark: 7 of 7" in done.stderr
    assert calibration_text(said)
    for engine in ENGINES:
        assert (calibrated(engine) is not None) == (engine in said["engines"])


# Calibrations of earlier versions

OLD = """
[local]
insert = 5.42e-25
probe = 4.7e-08
expire = 2.7e-25
compare = 1.5e-08
arrive = 3.1e-07
batch = 0.002
"""


def test_an_implausible_calibration_is_set_aside_with_a_note(user_file: Path) -> None:
    user_file.write_text(OLD)
    assert calibrated("local") is None
    note = (
        f"the calibration is set aside: {user_file}: local.insert = 5.42e-25 s, "
        "and 1e-10 to 0.001 s are plausible; measure again with penstock doctor --calibrate"
    )
    script = CHAIN.script()
    explain = ["explain", "-", "--format", "json", "--engine"]
    done = CliRunner().invoke(app, [*explain, "local"], input=script)
    assert done.exit_code == 0
    assert note in json.loads(done.stdout)["notes"]
    here = ["--engine", "local", "--available-now", "--sink", "noop"]
    done = CliRunner().invoke(app, ["run", "-", *here], input=script)
    assert done.exit_code == 0, done.output
    assert f"note: {note}\n" in done.stderr
    elsewhere = CliRunner().invoke(app, [*explain, "spark"], input=script)
    assert "set aside" not in elsewhere.stdout


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[local]\nprobe = -1\n", "local.probe = -1 is not a cost"),
        ("[local]\nsing = 1e-6\n", "local.sing = 1e-06 is not a cost"),
        ("local = 3\n", "[local] is not a table of costs"),
        ("[local]\nprobe = 1e-7\n", "local.insert has no cost"),
        ("[local\n", "cannot read "),
    ],
)
def test_the_doctor_says_what_is_wrong_with_a_calibration(
    text: str, fault: str, user_file: Path
) -> None:
    assert (calibration().status, calibration().found) == ("warning", "never done")
    keep({"local": BATCHED})
    assert calibration().status == "ok"
    assert calibration().found.startswith("local, 20")
    user_file.write_text(text)
    assert calibrated("local") is None
    assert calibration().status == "warning"
    assert fault in calibration().found


def test_a_file_that_cannot_be_written_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PENSTOCK_CALIBRATION", str(tmp_path / "file" / "costs.toml"))
    assert calibrated("local") is None
    with pytest.raises(StatsError, match=r"cannot write .*costs\.toml"):
        keep({"local": BATCHED})


def test_engine_goes_with_calibrate() -> None:
    done = CliRunner().invoke(app, ["doctor", "--quick"])
    assert done.exit_code == 2


def test_what_meshes_take_is_measured_and_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PENSTOCK_CALIBRATION", str(tmp_path / "costs.toml"))
    route, classify = route_seconds(1), classify_seconds(1)
    costs = replace(BATCHED, route=route, classify=classify)
    assert list(faults_of("local", costs)) == []
    keep({"local": costs})
    found = calibrated("local")
    assert found is not None
    assert (found.route, found.classify) == pytest.approx((route, classify), rel=1e-3)
    assert ruster_seconds(found, "local") == pytest.approx(route, rel=1e-3)
    assert ruster_seconds(found, "laboratory") == 0.0
    assert ruster_seconds(COSTS, "local") == GUESSED_ROUTE
    assert "classify = 1 s" in next(faults_of("local", replace(BATCHED, classify=1.0)))
