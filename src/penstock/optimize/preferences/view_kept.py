"""A view is kept from batch to batch unless recomputing it is clearly better."""

from __future__ import annotations

from penstock.optimize.preferences.comparison import told_apart, work_unit
from penstock.optimize.preferences.preference import (
    Context,
    Plans,
    Preferred,
    clearly_recomputed,
    is_clearly_less,
    kept_instead,
    put_first,
)
from penstock.plan.explain.quantity import percent


def view_kept(plans: Plans, context: Context) -> Preferred:
    """The best plan that keeps its view, if it needs no shedding and recomputing is hardly better.

    How much better that is depends on how long batches are, which a plan does not know.
    """
    best, kept, part = plans[0], kept_instead(plans, context), clearly_recomputed(context)
    if kept is None or is_clearly_less(best, kept, part):
        return Preferred(plans)
    mine, its = told_apart(kept.estimate.work, best.estimate.work)
    return put_first(
        plans,
        kept,
        f"the view is kept, as recomputing it is not clearly better: it takes {its} "
        f"{work_unit(kept, best)} against {mine}, and not {percent(part)} of it or less",
    )
