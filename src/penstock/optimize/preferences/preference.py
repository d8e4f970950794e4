"""The shape of a preference: plans in an order, and the reason for the one that comes first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from penstock.optimize.model.problem import Problem
from penstock.optimize.options import PlanOptions
from penstock.optimize.preferences.ranking import Ranking
from penstock.plan.decision import Alternative
from penstock.plan.plan import Plan, recomputed_by
from penstock.query.goal import Steady

CLEARLY = 0.9
"""The part of another plan's work that a plan may need at the most to be clearly better."""
CLEARLY_IF_SHED = 0.5
"""The same of a plan whose view is dear to estimate where tuples may be shed. One that recomputes
it joins all that is in the windows again, whatever is shed of what comes; and in one that
aggregates early a row carries sums of weights, which are often more than its tuples."""

Plans = Sequence[Alternative]

Reason = Callable[[Alternative], str]
"""The sentence that says why a plan comes first, told of it as it is to run: by then its estimate
is exact."""


@dataclass(frozen=True)
class Preferred:
    """The plans in the order of a preference, and its reason."""

    plans: Plans
    """All plans, the preferred one first."""

    reason: Reason | None = None
    """Why that one is first; None where it was first before."""

    is_default: bool = False
    """Whether the reason is told only where no preference has another."""


@dataclass(frozen=True)
class Context:
    """The problem that plans are compared for, and what is wanted of them."""

    problem: Problem
    options: PlanOptions

    @property
    def ranking(self) -> Ranking:
        capacity = self.problem.known.capacity.value
        return Ranking(self.options.goal, capacity, self.options.estimator)

    @property
    def may_give_way(self) -> bool:
        """Whether the best plan may give way to a safer one; a forced plan gives way to none."""
        is_free = self.options.plan is None and self.options.estimator == "rates"
        return is_free and isinstance(self.options.goal, Steady)


Preference = Callable[[Plans, Context], Preferred]


def reasons_told(given: Iterable[Preferred]) -> list[Reason]:
    """The reasons in the order of their preferences; default ones only where there is no other."""
    reasons = [(each.reason, each.is_default) for each in given if each.reason is not None]
    own = [reason for reason, is_default in reasons if not is_default]
    return own or [reason for reason, _ in reasons]


def put_first(plans: Plans, plan: Alternative, reason: str) -> Preferred:
    """The plans with one of them first; without a reason if it was the first before."""
    if plan is plans[0]:
        return Preferred(plans)
    others = [other for other in plans if other is not plan]
    return Preferred([plan, *others], lambda _: reason)


def is_clearly_less(one: Alternative, other: Alternative, part: float = CLEARLY) -> bool:
    """Whether a plan needs clearly less work than another."""
    return one.estimate.work <= part * other.estimate.work


def clearly_recomputed(context: Context) -> float:
    """The part of the work of keeping a view that recomputing it may need at the most."""
    return CLEARLY_IF_SHED if context.options.sheds else CLEARLY


def is_plain(plan: Plan) -> bool:
    """Whether a view is neither recomputed nor of inputs that are aggregated early."""
    return not plan.early and recomputed_by(plan) is None


def aggregate_alike(one: Plan, other: Plan) -> bool:
    """Whether plans differ in the order of their joins only."""
    return (one.early, recomputed_by(one)) == (other.early, recomputed_by(other))


def best_kept(plans: Plans) -> Alternative | None:
    """The best plan that keeps its view from batch to batch."""
    return next((each for each in plans if recomputed_by(each.plan) is None), None)


def kept_instead(plans: Plans, context: Context) -> Alternative | None:
    """The plan that could keep the view where the first recomputes it, without shedding."""
    kept = best_kept(plans)
    if not context.may_give_way or kept is None or kept is plans[0]:
        return None
    return kept if context.ranking.needs_no_shedding(kept) else None
