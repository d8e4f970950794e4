"""Inputs of a view that may be shed are aggregated early only where that is much less work."""

from __future__ import annotations

from penstock.optimize.preferences.comparison import told_apart, work_unit
from penstock.optimize.preferences.preference import (
    CLEARLY_IF_SHED,
    Context,
    Plans,
    Preferred,
    is_clearly_less,
    is_plain,
    put_first,
)
from penstock.plan.explain.quantity import percent


def late_if_shed(plans: Plans, context: Context) -> Preferred:
    """The best plan whose estimates are cheap, if it needs no shedding now but may have to."""
    best, ranking = plans[0], context.ranking
    plain = next((each for each in plans if is_plain(each.plan)), None)
    may_shed = context.options.sheds and context.may_give_way
    if not may_shed or plain is None or not ranking.needs_no_shedding(plain):
        return Preferred(plans)
    if is_clearly_less(best, plain, CLEARLY_IF_SHED):
        return Preferred(plans)
    mine, its = told_apart(plain.estimate.work, best.estimate.work)
    return put_first(
        plans,
        plain,
        "nothing is aggregated before the join, as tuples may be shed and that is not clearly "
        f"better: it takes {its} {work_unit(plain, best)} against {mine}, and not "
        f"{percent(CLEARLY_IF_SHED)} of it or less",
    )
