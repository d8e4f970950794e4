"""A&N's settings in the laboratory: its closed forms against the planner, and runs of Example 1."""

from __future__ import annotations

import pytest

from penstock.experiments.sliding_windows.example import PLANS, handled, measure, shed
from penstock.experiments.sliding_windows.rows_join import drawn_joins, left_deep, shed_output
from penstock.experiments.sliding_windows.table_2 import LEVELS, drawn
from penstock.optimize.joins.enumerate import all_trees, left_deep_trees


@pytest.mark.parametrize("level", [0.9, 0.4, 0.01])
def test_the_best_by_closed_form_is_the_planners(level: float) -> None:
    for query in drawn(2, seed=7):
        problem = query.problem(level * query.saturation)
        best = max(shed_output(problem, tree) for tree in left_deep_trees(problem))
        assert query.best(level) == pytest.approx(best, rel=1e-9)


def test_the_best_of_all_trees_by_closed_form_is_the_planners() -> None:
    for join in drawn_joins(4, 3, seed=7):
        problem = join.problem(0.4 * join.saturation)
        best = max(shed_output(problem, tree) for tree in all_trees(problem))
        assert join.best(0.4) == pytest.approx(best, rel=1e-9)
        assert left_deep(join).saturation >= join.saturation


def test_the_same_seed_draws_the_same_queries() -> None:
    one, other = ([q.rates.tolist() for q in drawn(3)] for _ in range(2))
    assert one == other
    assert all(10 <= rate <= 1000 for rates in one for rate in rates)


def test_gains_and_errors_are_never_below_zero() -> None:
    query = next(drawn(1))
    assert query.gain(1.0) == 0.0
    assert min(query.gain(level) for level in LEVELS) >= 0.0
    assert 0.0 <= query.error(0.4) < 0.1


@pytest.mark.parametrize(
    ("plan", "milliseconds", "output"),
    [
        ("(B⋈C)⋈A", 4.0, 900.0),
        ("(A⋈C)⋈B", 4.0, 863.6),
        ("(B⋈C)⋈A", 4.5, 807.4),
        ("(A⋈C)⋈B", 4.5, 838.4),
        ("(B⋈C)⋈A", 14.0, 304.8),
        ("(A⋈C)⋈B", 14.0, 701.3),
        ("(B⋈C)⋈A", 17.0, 262.7),
        ("(A⋈B)⋈C", 100.0, 100.0),
    ],
)
def test_example_1_is_shed_as_in_the_paper(plan: str, milliseconds: float, output: float) -> None:
    assert shed(plan, milliseconds / 1000).output == pytest.approx(output, abs=0.05)


@pytest.mark.parametrize("plan", PLANS)
def test_runs_of_example_1_use_what_the_model_says(plan: str) -> None:
    found = measure(plan, 0.0005, 30.0)
    assert found.utilization == pytest.approx(0.0005 * handled(plan), rel=0.05)
    assert found.output == pytest.approx(1000.0, rel=0.05)
