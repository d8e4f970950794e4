"""The order of FROM stays unless another plan is clearly better."""

from __future__ import annotations

from penstock.optimize.joins.candidates import FROM_ORDER
from penstock.optimize.preferences.comparison import told_apart, work_unit
from penstock.optimize.preferences.preference import (
    Context,
    Plans,
    Preferred,
    aggregate_alike,
    is_clearly_less,
    put_first,
)
from penstock.plan.decision import Alternative


def from_order(plans: Plans, context: Context) -> Preferred:
    """FROM's own order, if the best plan is not clearly better than it.

    Seconds of batches are not predicted to the last percent, and a change for nothing is a risk.
    """
    best, own = plans[0], _own(plans)
    if not context.may_give_way or not _knows_batches(context) or own is None:
        return Preferred(plans)
    if not context.ranking.needs_no_shedding(own) or is_clearly_less(best, own):
        return Preferred(plans)
    mine, its = told_apart(own.estimate.work, best.estimate.work)
    return put_first(
        plans,
        own,
        f"the order of FROM, as no plan is clearly better: {mine} {work_unit(own, best)}, and the "
        f"best takes {its}",
    )


def _knows_batches(context: Context) -> bool:
    """Whether there are batches, and what they take is measured."""
    is_measured = context.problem.known.costs.origin == "measured"
    return is_measured and context.options.engine != "laboratory"


def _own(plans: Plans) -> Alternative | None:
    """The plan in FROM's order that aggregates as the first plan does."""
    return next(
        (
            each
            for each in plans
            if FROM_ORDER in each.found_by and aggregate_alike(each.plan, plans[0].plan)
        ),
        None,
    )
