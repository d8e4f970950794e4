"""The goals benchmark: its cases want another plan than the long run, and its figures add up."""

from __future__ import annotations

import pytest

from penstock.bench.goals.cases import GoalCase, gain, goal_cases
from penstock.bench.goals.run import LARGE, GoalDocument
from penstock.bench.goals.text import goals_text
from penstock.plan.text.parse import render_plan
from penstock.query.goal import By, First
from penstock.stats.guess import DEFAULT_COSTS


@pytest.fixture(scope="module")
def cases() -> tuple[GoalCase, ...]:
    return goal_cases(DEFAULT_COSTS, 0.25)


def test_every_case_promises_much(cases: tuple[GoalCase, ...]) -> None:
    assert len(cases) == 4
    for case in cases:
        assert render_plan(case.chosen) != render_plan(case.steady)
        assert case.predicted >= LARGE


def test_soonest_is_by_half_of_the_results() -> None:
    chosen, steady = ([0.0, 1.0, 2.0], [0.0, 60.0, 100.0]), ([0.0, 4.0, 8.0], [0.0, 50.0, 100.0])
    assert gain(First(50), chosen, steady) == pytest.approx(4.0 / (50 / 60))


def test_most_is_when_the_steady_plan_has_a_quarter() -> None:
    chosen, steady = ([0.0, 4.0], [0.0, 100.0]), ([0.0, 8.0], [0.0, 100.0])
    assert gain(By(1.0), chosen, steady) == pytest.approx(2.0)
    at_once = ([0.0, 1.0], [0.0, 100.0])
    assert gain(By(1.0), at_once, steady) == pytest.approx(4.0)


def test_the_figures_as_text() -> None:
    made: GoalDocument = {
        "repeat": 3,
        "cases": [
            {
                "case": "long window, first",
                "goal": "first:10",
                "chosen": "((A B) C)",
                "steady": "A: C B",
                "predicted": 5.0,
                "measured": 1.9,
                "batch_seconds": 0.5,
            }
        ],
        "predicted_1_5x": 1,
        "better_where_1_5x": 1,
    }
    text = goals_text(made)
    assert "5.00 x" in text
    assert "1.90 x" in text
    assert text.endswith("the chosen plan was better in 1 of 1\n")
