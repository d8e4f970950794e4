"""Predicted and measured costs: what of them is drawn and judged."""

from __future__ import annotations

from random import Random

from penstock.bench.decisions.case import prepare
from penstock.bench.decisions.trial import Trial
from penstock.experiments.beyond.accuracy import findings_of
from penstock.optimize.estimate import needed_by
from penstock.stats.guess import DEFAULT_COSTS


def trial(power: float) -> Trial:
    """A query whose plans take a power of what is predicted: below 0, the worst is the best."""
    case = prepare(Random("2 0"), 3, DEFAULT_COSTS)
    predicted = {text: needed_by(case.problem, plan) for text, plan in case.plans.items()}
    chosen = min(predicted, key=lambda text: predicted[text])
    return Trial(case, chosen, predicted, {t: each**power for t, each in predicted.items()})


def test_costs_in_the_right_order_hold_whatever_their_unit() -> None:
    assert [claim.verdict for claim in findings_of([trial(0.5)]).claims] == ["holds", "holds"]


def test_costs_in_the_wrong_order_fail() -> None:
    assert [claim.verdict for claim in findings_of([trial(-4.0)]).claims] == ["fails", "fails"]


def test_every_plan_is_a_point_of_no_line() -> None:
    found = findings_of([trial(1.0)])
    plans, chosen, _ = found.charts[0].series  # type: ignore[union-attr]
    assert len(plans.x) == len(found.data.rows)
    assert (len(chosen.x), plans.is_joined) == (1, False)
