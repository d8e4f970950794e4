"""A view is kept from batch to batch unless recomputing it is clearly better."""

from __future__ import annotations

from penstock.optimize.preferences.comparison import told_apart, work_unit
from penstock.optimize.preferences.preferred import (
    CLEARLY,
    Context,
    Plans,
    Preferred,
    best_kept,
    is_clearly_less,
    put_first,
)
from penstock.plan.explain.quantity import percent
from penstock.plan.plan import recomputed_by


def view_kept(plans: Plans, context: Context) -> Preferred:
    """The best plan that keeps its view, if it needs no shedding and recomputing is hardly better.

    How much better that is depends on how long batches are, which a plan does not know.
    """
    best, kept = plans[0], best_kept(plans)
    if not context.may_give_way or recomputed_by(best.plan) is None or kept is None:
        return Preferred(plans)
    if not context.ranking.needs_no_shedding(kept) or is_clearly_less(best, kept):
        return Preferred(plans)
    mine, its = told_apart(kept.estimate.work, best.estimate.work)
    return put_first(
        plans,
        kept,
        f"the view is kept, as recomputing it is not clearly better: it takes {its} "
        f"{work_unit(kept, best)} against {mine}, and not {percent(CLEARLY)} of it or less",
    )
