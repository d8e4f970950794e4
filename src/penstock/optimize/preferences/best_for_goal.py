"""First of all, the plan that does best by the goal."""

from __future__ import annotations

from functools import partial

from penstock.optimize.preferences.comparison import compared
from penstock.optimize.preferences.preference import Context, Plans, Preferred, best_kept
from penstock.optimize.preferences.ranking import Ranking
from penstock.plan.decision import Alternative
from penstock.plan.plan import recomputed_by
from penstock.query.goal import First, Steady


def best_for_goal(plans: Plans, context: Context) -> Preferred:
    """The plans from best to worst: `least work of 4 plans: 0.14 s/s of work against 0.165`."""
    ranking = context.ranking
    ranked = ranking.sorted(plans)
    reason = partial(_reason, others=ranked[1:], ranking=ranking)
    return Preferred(ranked, reason, is_default=True)


def _reason(chosen: Alternative, others: Plans, ranking: Ranking) -> str:
    if not others:
        return "the only plan weighed"
    words = f"{_merit(chosen, ranking)} of {len(others) + 1} plans"
    told = f"{words}: {compared(chosen, others[0], ranking)}"
    return told + _kept(chosen, others, ranking)


def _merit(chosen: Alternative, ranking: Ranking) -> str:
    if ranking.estimator == "cardinality":
        return "least work by cardinalities, whatever the rates,"
    if isinstance(ranking.goal, First):
        return "soonest"
    if not isinstance(ranking.goal, Steady):
        return "most results by then"
    found = chosen.estimate
    is_shed = found.output_rate < found.full_rate * (1 - 1e-9)
    return "fewest results lost" if is_shed else "least work"


def _kept(chosen: Alternative, others: Plans, ranking: Ranking) -> str:
    """The figure of keeping the view, where it is recomputed and the next best is too."""
    kept = best_kept(others)
    if kept is None or kept is others[0] or recomputed_by(chosen.plan) is None:
        return ""
    if ranking.deciding(chosen, kept) == "lost" and ranking.keeps_up(kept):
        return f"; the best that is kept {kept.estimate.output_rate:,.4g} results/s"
    return f"; the best that is kept {kept.estimate.work:.3g}"
