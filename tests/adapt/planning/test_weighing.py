"""Weighing plans beside the running one, what a switch rebuilds, and the planner's thread."""

from __future__ import annotations

from dataclasses import replace
from threading import Event

import pytest

from penstock.adapt.planning.expected import Expectation, Load
from penstock.adapt.planning.planner import BackgroundPlanner
from penstock.adapt.planning.rebuild import fill_seconds, rebuild_seconds, with_rows
from penstock.adapt.planning.weighing import Question, weigh, work_of_plan
from penstock.cql import parse
from penstock.figure import Figure
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import PlanOptions
from penstock.plan.drops import DropBoxes
from penstock.plan.text.parse import forced_plan
from penstock.query import Query
from penstock.stats.guess import complete
from penstock.stats.known import Known
from support.waiting import PATIENCE, wait_until

SCRIPT = """
CREATE STREAM a (ts BIGINT, k INT) WITH (format='csv', path='a', timestamp='ts', unit='s');
CREATE STREAM b (ts BIGINT, k INT) WITH (format='csv', path='b', timestamp='ts', unit='s');
CREATE STREAM c (ts BIGINT, k INT) WITH (format='csv', path='c', timestamp='ts', unit='s');
SELECT a.k FROM a [RANGE 9 SECONDS], b [RANGE 9 SECONDS], c [RANGE 9 SECONDS]
WHERE a.k = b.k AND b.k = c.k
"""

VIEW = f"""
{SCRIPT.partition("SELECT")[0]}
SELECT a.k, COUNT(*) AS n FROM a [RANGE 9 SECONDS], b [RANGE 9 SECONDS]
WHERE a.k = b.k GROUP BY a.k EVERY 1 SECOND
"""


@pytest.fixture
def query() -> Query:
    return parse(SCRIPT)


@pytest.fixture
def known(query: Query) -> Known:
    rates = {"a": 1_000.0, "b": 10.0, "c": 100.0}
    found = complete(query)
    return replace(found, rates={k: Figure(v, "measured") for k, v in rates.items()})


def question(known: Known, running: str, **options: object) -> Question:
    plan = replace(forced_plan(known.query, running), drops=DropBoxes((("a", 0.5),)))
    wishes = PlanOptions(engine="local", **options)  # type: ignore[arg-type]
    return Question(lambda: known, wishes, plan, {})


def test_the_running_plan_is_weighed_by_the_same_figures(known: Known) -> None:
    running = "a: c b; b: a c; c: a b"
    found = weigh(question(known, running))
    assert found.running.work == work_of_plan(known, forced_plan(known.query, running))
    assert found.others[0].work < found.running.work


def test_drop_boxes_stay_as_they_run(known: Known) -> None:
    found = weigh(question(known, "a: c b; b: a c; c: a b"))
    assert all(each.plan.drops.fraction("a") == 0.5 for each in found.others)


def test_a_forced_plan_is_the_first_one_only(known: Known) -> None:
    wishes = question(known, "a: c b; b: a c; c: a b", plan="a: c b; b: a c; c: a b")
    assert weigh(wishes).others[0].text != "a: c b; b: a c; c: a b"


@pytest.mark.parametrize(
    ("running", "new", "rebuilds"),
    [
        ("a: b c; b: a c; c: a b", "a: c b; b: c a; c: b a", False),
        ("((a b) c)", "a: c b; b: c a; c: b a", False),
        ("((a b) c)", "(c (b a))", False),
        ("a: b c; b: a c; c: a b", "((a b) c)", True),
        ("((a b) c)", "((b c) a)", True),
    ],
)
def test_only_inner_joins_that_are_not_there_are_rebuilt(
    known: Known, running: str, new: str, rebuilds: bool
) -> None:
    problem = Problem(known.query, known)
    plans = [forced_plan(known.query, text) for text in (running, new)]
    assert (rebuild_seconds(problem, *plans) > 0.0) is rebuilds


def test_only_large_windows_fill_themselves(known: Known) -> None:
    problem = Problem(known.query, known)
    tree = forced_plan(known.query, "((a b) c)")
    few, many = (with_rows(problem, dict.fromkeys("abc", rows)) for rows in (1e4, 1e5))
    assert fill_seconds(few, tree) == 0.0
    assert fill_seconds(many, tree) == pytest.approx(9.0, rel=1e-3)
    assert fill_seconds(many, forced_plan(known.query, "a: b c; b: a c; c: a b")) == 0.0


def test_full_windows_take_what_the_plan_needs_in_the_long_run(known: Known) -> None:
    plan = forced_plan(known.query, "a: b c; b: c a; c: b a")
    rates = {alias: figure.value for alias, figure in known.rates.items()}
    rows = {alias: 9.0 * rate for alias, rate in rates.items()}
    load = Load(2.0, {alias: 2.0 * rate for alias, rate in rates.items()}, rows)
    assert Expectation().seconds(known, plan, load) == pytest.approx(
        2.0 * work_of_plan(known, plan)
    )


def test_empty_windows_take_less(known: Known) -> None:
    plan = forced_plan(known.query, "a: b c; b: c a; c: b a")
    tuples = {alias: figure.value for alias, figure in known.rates.items()}
    empty = Load(1.0, tuples, {"a": 1.0, "b": 1.0, "c": 1.0})
    assert Expectation().seconds(known, plan, empty) < work_of_plan(known, plan)


def test_windows_of_early_inputs_that_are_empty_take_less() -> None:
    view = parse(VIEW)
    tuples = {"a": 1_000.0, "b": 500.0}
    seen = complete(view)
    seen = replace(seen, rates={k: Figure(v, "measured") for k, v in tuples.items()})
    plan = forced_plan(view, "a: b; b: a | early a b")

    def seconds(part: float) -> float:
        held = {alias: 9.0 * part * rate for alias, rate in tuples.items()}
        return Expectation().seconds(seen, plan, Load(1.0, tuples, {"a": 1.0, "b": 1.0}, held))

    full = Expectation().seconds(seen, plan, Load(1.0, tuples, {}))
    assert seconds(1.0) == pytest.approx(full)
    assert seconds(0.1) < seconds(0.5) < full < seconds(2.0)


def test_the_background_planner_answers_later_and_once(known: Known) -> None:
    planner = BackgroundPlanner()
    planner.ask(question(known, "a: c b; b: a c; c: a b"))
    wait_until(lambda: not planner.is_busy)
    answer = planner.answer()
    assert answer is not None
    assert answer.running.text == "a: c b; b: a c; c: a b"
    assert planner.answer() is None
    planner.close()


def test_an_answer_that_nobody_has_taken_outlives_the_next_question(known: Known) -> None:
    """While figures move there is a question after every batch, and batches are longer."""
    planner, started, go = BackgroundPlanner(), Event(), Event()

    def slow() -> Known:
        started.set()
        assert go.wait(PATIENCE)
        return known

    planner.ask(question(known, "a: c b; b: a c; c: a b"))
    wait_until(lambda: not planner.is_busy)
    planner.ask(replace(question(known, "a: b c; b: c a; c: b a"), known=slow))
    assert started.wait(PATIENCE)
    first = planner.answer()
    assert first is not None
    assert first.running.text == "a: c b; b: a c; c: a b"
    assert planner.answer() is None
    go.set()
    wait_until(lambda: not planner.is_busy)
    second = planner.answer()
    assert second is not None
    assert second.running.text == "a: b c; b: c a; c: b a"
    planner.close()


def test_figures_that_no_plan_can_be_made_of_are_no_answer(known: Known) -> None:
    absurd = {alias: Figure(1e60, "measured") for alias in known.rates}
    planner = BackgroundPlanner("inline")
    planner.ask(question(replace(known, rates=absurd), "a: c b; b: a c; c: a b"))
    assert planner.answer() is None


def test_what_weights_cost_is_charged_while_tuples_are_shed() -> None:
    """Aggregated early, a row that is shed from carries dozens of numbers more."""
    declared, _, _ = SCRIPT.partition("SELECT")
    query = parse(
        f"""{declared} SELECT a.k, COUNT(*) AS n FROM a [RANGE 5 SECONDS], b [RANGE 5 SECONDS]
        WHERE a.k = b.k GROUP BY a.k EVERY 1 SECOND"""
    )
    shed = question(complete(query), "a: b; b: a | early a b")
    kept = replace(shed, running=replace(shed.running, drops=DropBoxes()))
    assert weigh(shed).running.work > 1.2 * weigh(kept).running.work
    assert weigh(shed).known == weigh(kept).known
