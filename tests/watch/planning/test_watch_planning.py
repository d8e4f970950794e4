"""Questions to the planner about a run: it answers by the figures that were measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

import penstock as ps
from penstock.adapt.resume import with_measured
from penstock.errors import UsageError
from penstock.optimize.planner import decide
from penstock.plan.text.parse import render_plan
from penstock.watch.log_reader import read_log
from penstock.watch.log_view import LogView
from penstock.watch.planning.alternatives import alternatives_view
from penstock.watch.planning.asked import measured_work, with_seconds
from penstock.watch.planning.plan_map import FACTORS, plan_map
from penstock.watch.planning.supposed import Supposed
from penstock.watch.planning.what_if import what_if
from support.watch.watched_runs import chained, run_of, scripted


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> LogView:
    return read_log(str(run_of(chained(), tmp_path_factory.mktemp("planned"))))


def test_the_answer_is_that_of_the_planner(log: LogView) -> None:
    assert log.head is not None
    query = ps.sql(log.head.query, engine="local", off="mesh")
    known = with_seconds(with_measured(query.known, log.checkpoint), log)
    chosen = decide(known, query.options)
    found = what_if(log, Supposed())
    assert found.plan == render_plan(chosen.plan)
    assert found.needed == pytest.approx(chosen.chosen.estimate.needed)
    assert found.is_feasible
    assert {s.alias: s.rate for s in found.settings} == {
        alias: figure.value for alias, figure in known.rates.items()
    }
    assert [(s.window, s.is_rows) for s in found.settings] == [(4.0, False)] * 3


def test_more_tuples_take_more_work_until_they_are_shed(log: LogView) -> None:
    usual = what_if(log, Supposed())
    more = what_if(log, Supposed(rates={"a": 5000.0}))
    assert (more.needed or 0.0) > (usual.needed or 0.0)
    longer = what_if(log, Supposed(windows={"c": 40.0}))
    assert (longer.state or 0.0) > (usual.state or 0.0)
    least = what_if(log, Supposed(cores=(usual.needed or 0.0) / 2))
    assert not least.is_feasible
    assert min(least.keep.values()) < 1.0
    assert (least.work or 0.0) <= least.cores * 1.001
    assert (least.output_rate or 0.0) < (least.full_rate or 0.0)


def test_what_is_supposed_is_read_from_names() -> None:
    given = {"rate.a": "10", "window.b c": "2.5", "cores": "4", "token": "x", "run": "0"}
    assert Supposed.of(given) == Supposed({"a": 10.0}, {"b c": 2.5}, 4.0)
    assert Supposed.of({}) == Supposed()


@pytest.mark.parametrize(
    "given",
    [
        {"rate.a": "many"},
        {"rate.a": "-1"},
        {"rate.a": "nan"},
        {"rate.x": "1"},
        {"window.a": "0"},
        {"cores": "inf"},
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(given: dict[str, str], log: LogView) -> None:
    with pytest.raises(UsageError):
        what_if(log, Supposed.of(given))


def test_plans_are_told_from_best_to_worst(log: LogView) -> None:
    view = alternatives_view(log)
    assert view.missing is None
    assert [line.work for line in view.plans] == sorted(line.work for line in view.plans)
    (running,) = [line for line in view.plans if line.is_running]
    assert running.plan == log.reports[-1].plan
    for line in view.plans:
        if not line.is_running:
            assert line.saves == pytest.approx(1.0 - line.work / running.work)
            assert (line.pays_after is not None) == (line.work < running.work)


def test_a_plan_that_is_worse_says_what_a_switch_would_save(tmp_path: Path) -> None:
    log = read_log(str(run_of(chained(batches=6), tmp_path, plan="((b c) a)")))
    view = alternatives_view(log)
    best = view.plans[0]
    assert not best.is_running
    assert 0.0 < (best.saves or 0.0) < 1.0
    assert best.pays_after is not None
    running = next(line for line in view.plans if line.is_running)
    assert best.pays_after == pytest.approx(best.rebuild / (running.work - best.work) + best.fill)


def test_the_map_has_the_best_plan_of_each_pair_of_rates(log: LogView) -> None:
    found = plan_map(log, "a", "c")
    here = FACTORS.index(1.0)
    usual = what_if(log, Supposed())
    assert found.plans[found.cells[here][here].plan] == usual.plan
    rates = {"a": found.x_rates[-1], "c": found.y_rates[0]}
    corner = found.cells[0][-1]
    there = what_if(log, Supposed(rates=rates))
    assert corner.needed == pytest.approx(there.needed or 0.0)
    assert found.plans[corner.plan] == there.plan
    for x, y in (("a", "a"), ("a", "x"), ("", "")):
        with pytest.raises(UsageError):
            plan_map(log, x, y)


def test_of_a_script_one_query_is_chosen(tmp_path: Path) -> None:
    log = read_log(str(scripted(tmp_path)))
    for missing in (
        what_if(log, Supposed()).missing,
        alternatives_view(log).missing,
        plan_map(log, "a", "b").missing,
    ):
        assert "choose pairs or counts" in (missing or "")
    for name in ("pairs", "counts"):
        mine = log.of_query(name)
        view = alternatives_view(mine)
        assert view.missing is None
        (running,) = [line for line in view.plans if line.is_running]
        assert running.plan == mine.reports[-1].plan
        found = what_if(mine, Supposed(rates={"a": 5.0}))
        assert found.missing is None
        assert {s.alias: s.rate for s in found.settings}["a"] == 5.0
        assert plan_map(mine, "a", "b").cells
        rates = [each.inputs["b"].rate for each in mine.reports if each.inputs["b"].rate]
        assert {s.alias: s.rate for s in found.settings}["b"] == pytest.approx(median(rates))
    other = alternatives_view(replace(log.of_query("pairs"), query="shared"))
    assert "share" in (other.missing or "")


def test_without_a_query_there_is_no_answer() -> None:
    assert what_if(LogView("x"), Supposed()).missing == "x does not say of which query it is"
    assert alternatives_view(LogView("x")).missing == "no batch yet"


def test_seconds_are_those_of_the_last_batches(log: LogView) -> None:
    """The model takes the running plan to need what it needed, within the factor of a run."""
    view = alternatives_view(log)
    running = next(line for line in view.plans if line.is_running)
    assert view.measured_work == measured_work(log)
    reports = [each for each in log.reports[-10:] if each.plan == log.reports[-1].plan]
    works = [(each.cpu - each.compiling) / (each.span or 1.0) for each in reports]
    assert min(works) <= (view.measured_work or 0.0) <= max(works)
    assert log.head is not None
    query = ps.sql(log.head.query, engine="local", off="mesh")
    known = with_measured(query.known, log.checkpoint)
    model = decide(known, query.options).chosen.estimate.work
    factor = (view.measured_work or 0.0) / model
    assert running.work / model == pytest.approx(min(10.0, max(0.1, factor)), rel=1e-6)
