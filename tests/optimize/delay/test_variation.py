"""How much the load of a plan varies, and what is said where its peaks are too high."""

from __future__ import annotations

import json
from dataclasses import replace
from math import isfinite

import pytest

from penstock.figure import Figure
from penstock.optimize.delay.variation import deviations, spread_of
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.decision import Decision
from penstock.plan.explain import Format, explain
from penstock.plan.text.parse import forced_plan
from penstock.stats.costs import Costs
from penstock.stats.known import Known
from support.plans.planning import example_1, query_of
from support.plans.planning import problem_of as given_problem


def known(**variations: float) -> Known:
    """A&N's example, with 0.84 CPU-seconds a second in its plan."""
    figures = {alias: Figure(value, "declared") for alias, value in variations.items()}
    return replace(example_1(0.003).known, variations=figures)


def decided(**variations: float) -> Decision:
    return decide(known(**variations), PlanOptions(kinds=frozenset({"tree"})))


def test_a_deviation_is_the_work_of_that_much_more_of_a_stream() -> None:
    query = query_of(
        "SELECT A.a FROM A [ROWS 10], B [ROWS 10] WHERE A.a = B.a", {"A": "a", "B": "a"}
    )
    problem = given_problem(
        query, {"A": 10.0, "B": 90.0}, {"A B": 0.1}, Costs("declared", join=0.001)
    )
    variations = {"A": Figure(0.5, "declared"), "B": Figure(0.2, "declared")}
    problem = replace(problem, known=replace(problem.known, variations=variations))
    found = deviations(problem, forced_plan(query, "(A B)"))
    assert found == pytest.approx({"A": 0.005, "B": 0.018})
    assert spread_of(problem, forced_plan(query, "(A B)")) == pytest.approx(0.0186815, rel=1e-4)


def test_without_a_figure_tuples_come_independently() -> None:
    problem = example_1(0.003)
    poisson = {alias: rate.value**-0.5 for alias, rate in problem.known.rates.items()}
    as_given = replace(problem, known=known(**poisson))
    plan = decided().plan
    assert spread_of(problem, plan) == pytest.approx(spread_of(as_given, plan))


def test_inputs_of_one_stream_vary_together() -> None:
    text = "SELECT x.a FROM A [ROWS 10] x, A [ROWS 10] y WHERE x.a = y.a"
    query = query_of(text, {"A": "a"})
    problem = given_problem(
        query, {"x": 50.0, "y": 50.0}, {"x y": 0.1}, Costs("declared", join=0.001)
    )
    given = dict.fromkeys("xy", Figure(0.4, "declared"))
    problem = replace(problem, known=replace(problem.known, variations=given))
    assert spread_of(problem, forced_plan(query, "(x y)")) == pytest.approx(0.4 * 0.1)


def test_a_plan_that_fits_on_average_alone_says_so() -> None:
    calm, rough = decided(A=0.01, B=0.01, C=0.01), decided(A=0.01, B=0.6, C=0.01)
    assert not any("95th percentile" in note for note in calm.notes)
    (note,) = (note for note in rough.notes if "95th percentile" in note)
    assert "mostly by B, whose rate varies by 60 %" in note
    assert "a capacity of 1." in note
    assert "batches of" in note
    assert "--shed" in note


@pytest.mark.parametrize("variation", [0.0, 1e-300, 1e3, 1e6])
def test_hostile_variations_have_a_delay(variation: float) -> None:
    """The largest is the largest that a stats file may have."""
    found = decided(A=variation, B=0.0, C=variation).delay
    assert found is not None
    assert isfinite(found.mean)
    assert found.mean >= 0.5


def test_what_nobody_measured_is_not_warned_of() -> None:
    assert not any("95th percentile" in note for note in decided().notes)


def test_explain_shows_the_delay_as_text_and_json() -> None:
    decision = decided(A=0.1, B=0.1, C=0.1)
    found = decision.delay
    assert found is not None
    assert found.trigger == 1.0
    text = explain(decision)
    assert "\ndelay " in text
    assert "expected of a result" in text
    document = json.loads(explain(decision, Format.JSON))
    assert document["delay"]["mean"] == pytest.approx(found.mean)
    assert document["delay"]["load"] == pytest.approx(decision.chosen.estimate.utilization)


def test_no_delay_is_told_of_a_plan_that_falls_behind_or_sheds() -> None:
    slow = example_1(0.0045).known
    assert decide(slow, PlanOptions(kinds=frozenset({"tree"}))).delay is None
    assert decide(slow, PlanOptions(sheds=True)).delay is None


def test_the_laboratory_takes_tuples_one_by_one() -> None:
    one = decide(known(), PlanOptions(engine="laboratory", off=frozenset({"methods"}))).delay
    lazy = decide(known(), PlanOptions(engine="laboratory", interval=5.0)).delay
    assert one is not None
    assert one.trigger == 0.0
    assert lazy is not None
    assert lazy.waits > one.waits
