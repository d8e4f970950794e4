"""What the experiments on estimators and goals are made of."""

from __future__ import annotations

import pytest

from penstock.bench.goals.run import GoalFigures
from penstock.experiments.rate_based.complex_plans import FIVE, FIVE_WAY, foreseen
from penstock.experiments.rate_based.estimators import estimates_of, known_of
from penstock.experiments.rate_based.goals_on_spark import goals_claim


def test_statistics_are_those_of_the_streams() -> None:
    known = known_of(FIVE)
    assert {alias: figure.value for alias, figure in known.cardinalities.items()} == {
        name: count for name, (count, _) in FIVE.sizes.items()
    }
    assert [figure.value for figure in known.handling.values()] == [pytest.approx(0.005)]


def test_the_planner_foresees_the_ends_that_the_fluid_model_does() -> None:
    traditional, by_rates = estimates_of(known_of(FIVE))
    assert set(traditional) == set(by_rates) == set(FIVE_WAY)
    for name, plan in FIVE_WAY.items():
        curve = foreseen(plan, FIVE)
        assert by_rates[name] == pytest.approx(curve.time_of(curve.total), rel=0.05)


@pytest.mark.parametrize(
    ("predicted", "measured", "verdict"),
    [(2.0, 1.4, "holds"), (2.0, 0.9, "fails"), (1.2, 2.0, "fails")],
)
def test_a_goal_counts_where_much_is_promised(
    predicted: float, measured: float, verdict: str
) -> None:
    found: GoalFigures = {
        "case": "a",
        "goal": "first:5",
        "chosen": "((A C) B)",
        "steady": "((A B) C)",
        "predicted": predicted,
        "measured": measured,
        "batch_seconds": 0.5,
    }
    claim = goals_claim([found])
    assert (claim.verdict, claim.timed) == (verdict, True)
