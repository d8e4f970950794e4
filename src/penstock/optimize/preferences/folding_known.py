"""A view is recomputed by what is known of how far its windows fold, not for a mere guess."""

from __future__ import annotations

from penstock.optimize.model.distinct import is_folding_guessed
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.recompute import unfolded_seconds
from penstock.optimize.preferences.comparison import told_apart, work_unit
from penstock.optimize.preferences.preference import (
    Context,
    Plans,
    Preferred,
    kept_instead,
    put_first,
)
from penstock.plan.plan import Plan

HARMLESS = 0.1
"""The part of the capacity that merging windows in which nothing folds may take at the most, for a
view to be recomputed though it is only guessed that they fold: so much is lost if that is wrong."""


def folding_known(plans: Plans, context: Context) -> Preferred:
    """The best plan that keeps its view, if only a guess says that recomputing it is better."""
    best, kept = plans[0], kept_instead(plans, context)
    if kept is None or _is_sure(context.problem, best.plan):
        return Preferred(plans)
    mine, its = told_apart(kept.estimate.work, best.estimate.work)
    return put_first(
        plans,
        kept,
        "the view is kept, as only a guess says that recomputing it is better: "
        f"{mine} {work_unit(kept, best)} against {its}",
    )


def _is_sure(problem: Problem, plan: Plan) -> bool:
    """Whether a plan folds by what is given, or does little harm where that is wrong."""
    if not any(is_folding_guessed(problem.known, alias) for alias in plan.early):
        return True
    return unfolded_seconds(problem, plan.early) <= HARMLESS * problem.known.capacity.value
