"""Of plans that guesses cannot tell apart, the one that keeps the least."""

from __future__ import annotations

from penstock.optimize.model.statistics_used import guesses
from penstock.optimize.preferences.comparison import told_apart
from penstock.optimize.preferences.preference import (
    Context,
    Plans,
    Preferred,
    aggregate_alike,
    put_first,
)
from penstock.optimize.preferences.ranking import Ranking
from penstock.plan.decision import Alternative
from penstock.plan.explain.quantity import number

ALIKE = 1.25
"""How many times the least work a plan may need and be as good as the best, going by guesses."""


def least_state(plans: Plans, context: Context) -> Preferred:
    """The plan of least state among those that are as good as the best, if figures are guessed.

    What is kept is what a wrong guess costs.
    """
    if not context.may_give_way or not guesses(context.problem.known):
        return Preferred(plans)
    best, ranking = plans[0], context.ranking
    alike = [each for each in plans if _is_as_good(each, best, ranking)]
    taken = min(alike, key=lambda each: each.estimate.state)
    mine, its = told_apart(taken.estimate.utilization, best.estimate.utilization)
    states = f"{number(taken.estimate.state)} tuples against {number(best.estimate.state)}"
    return put_first(
        plans,
        taken,
        f"least state of the plans that guesses cannot tell apart: {states}, at {mine} s/s of work "
        f"against {its}",
    )


def _is_as_good(one: Alternative, best: Alternative, ranking: Ranking) -> bool:
    """Whether guesses cannot tell a plan from the best.

    A plan that keeps up gives way to none that does not, and inputs are folded for the work that
    it saves, not for a little state.
    """
    mine, its = one.estimate, best.estimate
    return (
        aggregate_alike(one.plan, best.plan)
        and mine.utilization <= its.utilization * ALIKE
        and mine.output_rate * ALIKE >= its.output_rate
        and (ranking.keeps_up(one) or not ranking.keeps_up(best))
        and (ranking.needs_no_shedding(one) or not ranking.needs_no_shedding(best))
    )
