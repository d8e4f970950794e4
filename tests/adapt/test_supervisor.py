"""The supervisor on runs over files: what it notices, when it switches, and that results stay."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import penstock as ps
from penstock.adapt.follow import supervisor_for
from penstock.adapt.planning.weighing import work_of_plan
from penstock.adapt.resume import measured_at
from penstock.adapt.settings import DEFAULT_SETTINGS
from penstock.adapt.shedding.shedder import Shedder
from penstock.adapt.shedding.wish import Wish
from penstock.adapt.training.trainer import Trainer
from penstock.api import ContinuousQuery
from penstock.engine.control.order import Order
from penstock.engine.run.options import RunOptions
from penstock.errors import PlanError
from penstock.figure import Figure
from penstock.optimize.options import DEFAULT_OPTIONS
from penstock.optimize.planner import decide
from penstock.plan.default_plan import default_plan
from penstock.plan.text.parse import render_plan
from penstock.stats.guess import complete
from penstock.stats.statistics import Group, Statistics, StreamFigures
from support.adapt.sectors import sector_query
from support.engines.supervised import HASTY, Costly, Followed, follow
from support.streams.drifting import Drifting, steady, step

RATES = Drifting(
    "abc",
    step(12, {"a": 600, "b": 6, "c": 600}, {"a": 600, "b": 600, "c": 6}),
    steady({"a": 100, "b": 100, "c": 100}),
)
KEYS = Drifting(
    "abc",
    steady({"a": 400, "b": 400, "c": 400}),
    step(12, {"a": 400, "b": 2_000, "c": 200}, {"a": 400, "b": 40, "c": 2_000}),
    is_chain=True,
)
CALM = Drifting(
    "abc",
    steady({"a": 300, "b": 300, "c": 300}),
    steady({"a": 200, "b": 200, "c": 200}),
    batches=40,
)


def planned(streams: Drifting, folder: Path, **options: object) -> ContinuousQuery:
    streams.write(folder)
    more = {"engine": "local", "kinds": ["multiway"], **options}
    return ps.sql(streams.script(folder), **more)  # type: ignore[arg-type]


def settled(run: Followed) -> float:
    """How many times the work of the best plan the running one takes, by the figures of now."""
    known = run.supervisor.knowledge.known()
    best = decide(known, run.supervisor.replanner.options)
    running = run.supervisor.running
    return work_of_plan(known, running) / work_of_plan(known, best.plan)


@pytest.mark.parametrize(
    ("streams", "kinds"),
    [(RATES, ["tree", "multiway"]), (KEYS, ["multiway"])],
    ids=["rates, any plan", "keys, a multiway join"],
)
def test_a_step_is_noticed_and_followed(
    streams: Drifting, kinds: list[str], tmp_path: Path
) -> None:
    query = planned(streams, tmp_path / "data", kinds=kinds)
    run = follow(query, tmp_path / "on")
    drifts = [batch for batch, _ in run.changes("drift") if batch >= 12]
    assert 12 <= drifts[0] <= 14
    late = [batch for batch in run.switches if batch >= 12]
    assert late
    assert max(late) <= 22
    assert settled(run) < 1.1
    assert run.results == follow(query, tmp_path / "off", "off").results


def test_an_answer_that_comes_between_two_batches_is_taken_by_the_next(tmp_path: Path) -> None:
    query = planned(RATES, tmp_path / "data")
    inline = follow(query, tmp_path / "inline")
    beside = follow(query, tmp_path / "beside", planning="background")
    assert [b for b in beside.switches if b >= 12] == [b for b in inline.switches if b >= 12]
    assert beside.reports[-1].plan == inline.reports[-1].plan
    assert len(inline.switches) > 1


def test_a_query_without_statistics_soon_has_the_plan_that_the_truth_gives(
    tmp_path: Path,
) -> None:
    query = planned(KEYS, tmp_path / "data")
    run = follow(query, tmp_path / "on")
    assert all(batch <= 5 for batch in run.switches if batch < 12)
    assert settled(run) < 1.1


def test_statistics_that_are_a_hundred_times_off_are_corrected(tmp_path: Path) -> None:
    query = planned(RATES, tmp_path / "data")
    lie = Statistics(
        query.query,
        streams={
            "a": StreamFigures(rate=Figure(6.0, "declared")),
            "b": StreamFigures(rate=Figure(600.0, "declared")),
            "c": StreamFigures(rate=Figure(60_000.0, "declared")),
        },
        groups={Group(0, (0,), frozenset("ab")): Figure(1.0, "declared")},
    )
    lied = replace(query, known=complete(query.query, lie))
    told = follow(lied, tmp_path / "on")
    truth = follow(query, tmp_path / "truth")
    assert told.switches[0] <= 5
    assert told.reports[11].plan == truth.reports[11].plan


def test_streams_that_stay_as_they_are_keep_their_plan(tmp_path: Path) -> None:
    run = follow(planned(CALM, tmp_path / "data"), tmp_path / "on")
    assert run.switches == []
    assert run.changes("drift") == []


def test_a_square_wave_has_one_switch_an_edge(tmp_path: Path) -> None:
    low, high = {"a": 300, "b": 30, "c": 300}, {"a": 300, "b": 3_000, "c": 300}
    wave = Drifting(
        "abc",
        lambda batch, name: (low if batch // 10 % 2 == 0 else high)[name],
        steady({"a": 150, "b": 150, "c": 150}),
        batches=50,
        window=2,
    )
    run = follow(planned(wave, tmp_path / "data"), tmp_path / "on")
    edges = [batch // 10 for batch in run.switches]
    assert len(edges) >= 4
    assert len(edges) == len(set(edges))


def test_plans_that_are_nearly_as_good_are_not_switched_between(tmp_path: Path) -> None:
    noise = np.random.default_rng(7).uniform(0.85, 1.15, (60, 3))
    rates = {"a": 300.0, "b": 300.0, "c": 320.0}
    tie = Drifting(
        "abc",
        lambda batch, name: int(rates[name] * noise[batch, "abc".index(name)]),
        steady({"a": 150, "b": 150, "c": 150}),
        batches=60,
    )
    run = follow(planned(tie, tmp_path / "data"), tmp_path / "on")
    assert len(run.switches) <= 1


def test_the_log_says_why_a_better_plan_is_not_followed(tmp_path: Path) -> None:
    query = planned(RATES, tmp_path / "data")
    settings = replace(DEFAULT_SETTINGS, free_margin=1_000.0)
    run = follow(query, tmp_path / "on", settings=settings)
    assert not run.switches
    (_, stay), *more = run.changes("stay")
    assert stay.plan != render_plan(query.plan)
    assert stay.reason.endswith("less than 1000 times as good")
    assert all(one.plan != other.plan for (_, one), (_, other) in pairwise([(0, stay), *more]))


def test_a_switch_that_made_it_worse_is_taken_back_and_barred(tmp_path: Path) -> None:
    query = planned(RATES, tmp_path / "data")
    supervisor = supervisor_for(
        query.plan, query.known, query.options, "on", planning="inline", settings=HASTY
    )
    seconds = dict.fromkeys((render_plan(query.plan),), 1.0)
    run = follow(query, tmp_path / "on", supervisor=Costly(supervisor, seconds))
    back = run.changes("take-back")
    assert [change.plan for _, change in back] == [render_plan(query.plan)]
    assert run.reports[back[0][0] + 1].plan == render_plan(query.plan)
    (_, tried), *_ = run.changes("switch")
    assert tried.plan not in {report.plan for report in run.reports[back[0][0] + 1 :]}
    assert back[0][1].outcome is not None
    assert back[0][1].outcome < 0.0


def test_advise_changes_nothing_and_says_what_would_be_better(tmp_path: Path) -> None:
    query = planned(RATES, tmp_path / "data")
    run = follow(query, tmp_path / "advise", "advise")
    assert {report.plan for report in run.reports} == {render_plan(query.plan)}
    advice = [change for _, change in run.changes("advise")]
    assert len(advice) == 2
    assert all(change.promise and change.promise > 0.1 for change in advice)
    assert run.switches == []


def test_off_measures_and_predicts_only(tmp_path: Path) -> None:
    query = planned(RATES, tmp_path / "data")
    run = follow(query, tmp_path / "off", "off")
    last = run.reports[-1]
    assert run.changes("switch", "advise") == []
    assert last.prediction is not None
    assert last.inputs["a"].predicted_rate == 1_000.0
    assert {figure.what for figure in last.figures} >= {"rate of a", "a.k = b.k", "a.k = b.k = c.k"}
    assert all(operator.predicted for operator in last.operators)
    assert last.modules["a@0"].predicted == 4_000.0


def test_figures_are_those_of_the_streams(tmp_path: Path) -> None:
    run = follow(planned(CALM, tmp_path / "data"), tmp_path / "on")
    figures = {figure.what: figure for figure in run.reports[-1].figures}
    assert abs(figures["rate of a"].value / 300 - 1) < 0.03
    for pair in ("a.k = b.k", "a.k = c.k", "b.k = c.k"):
        assert abs(figures[pair].value * 200 - 1) < 0.1
    assert abs(figures["a.k = b.k = c.k"].value * 200**2 - 1) < 0.2


def test_it_is_measured_how_much_rates_vary(tmp_path: Path) -> None:
    noise = np.random.default_rng(3).normal(1.0, 0.25, 40)
    uneven = Drifting(
        "abc",
        lambda batch, name: int(300 * noise[batch]) if name == "a" else 300,
        steady({"a": 150, "b": 150, "c": 150}),
        batches=40,
    )
    run = follow(planned(uneven, tmp_path / "data"), tmp_path / "on")
    found = run.supervisor.knowledge.known().variations
    assert found["a"].origin == "measured"
    assert found["a"].value == pytest.approx(0.25, rel=0.4)
    assert found["b"].value < 0.05


def test_what_was_measured_is_there_for_the_next_run(tmp_path: Path) -> None:
    query = planned(CALM, tmp_path / "data")
    follow(query, tmp_path / "on")
    found = measured_at(str(tmp_path / "on" / "checkpoint"), query.query)
    assert found is not None
    rate = found.stream("a").rate
    assert rate is not None
    assert rate.origin == "measured"
    assert abs(rate.value / 300 - 1) < 0.03
    pair = found.groups[Group(0, (0,), frozenset("ab"))]
    assert abs(pair.value * 200 - 1) < 0.1


def test_a_plan_that_is_pinned_stays(tmp_path: Path) -> None:
    query = planned(RATES, tmp_path / "data")
    run = follow(query, tmp_path / "on")
    supervisor = run.supervisor
    answer = supervisor.obey(Order("pin", "a: c b; b: c a; c: a b"))
    assert answer == "the plan stays from now on: a: c b; b: c a; c: a b"
    plan = supervisor.next_plan(supervisor.running, 99)
    assert plan is not None
    assert render_plan(plan) == "a: c b; b: c a; c: a b"
    assert supervisor.next_plan(plan, 100) is None
    assert supervisor.replanner.mode == "off"


def test_what_to_shed_of_another_plan_is_worked_out_before_its_first_batch_is_over(
    tmp_path: Path,
) -> None:
    """It is often a burst that has the plan changed: nothing would be shed for a batch more."""
    query = planned(CALM, tmp_path / "data")
    shedder = Shedder(query.query, Wish(5.0, 1.0, is_on=True), is_inline=True)
    supervisor = supervisor_for(query.plan, query.known, query.options, "on", shedder=shedder)
    supervisor.obey(Order("pin", "a: c b; b: c a; c: a b"))
    plan = supervisor.next_plan(supervisor.running, 1)
    assert plan is not None
    made = shedder.curves.newest
    assert made is not None
    assert made.plan == plan


def test_orders_set_the_mode(tmp_path: Path) -> None:
    query = planned(CALM, tmp_path / "data")
    run = follow(query, tmp_path / "on")
    assert run.supervisor.obey(Order("replan", "advise")) == "replan is advise"
    with pytest.raises(PlanError, match="replan cannot be 'never'"):
        run.supervisor.obey(Order("replan", "never"))


@pytest.mark.parametrize("payback", [0.0, DEFAULT_SETTINGS.training_payback])
def test_nothing_is_sampled_before_training_may_pay(payback: float) -> None:
    query = sector_query()
    known = complete(query, Statistics(query))
    supervisor = supervisor_for(
        default_plan(query),
        known,
        DEFAULT_OPTIONS,
        "on",
        settings=replace(DEFAULT_SETTINGS, training_payback=payback),
        trainer=Trainer(query),
    )
    assert bool(supervisor.samples(0)) == (payback == 0.0)


def test_a_plan_is_made_once_where_nothing_was_measured(tmp_path: Path) -> None:
    query = planned(CALM, tmp_path / "data")
    options = RunOptions.of(sink="noop", checkpoint=tmp_path / "new")
    followed, _ = query.followed(options)
    assert followed.decision is query.decision
