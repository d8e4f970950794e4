"""Why the chosen plan was chosen, in the figures by which it was."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.optimize.model.effort import Effort
from penstock.optimize.preferences.choice import CLEARLY, Preference
from penstock.optimize.preferences.ranking import Order
from penstock.plan.decision import Alternative
from penstock.plan.explain.quantity import number
from penstock.plan.plan import recomputed_by
from penstock.plan.text.parse import render_plan
from penstock.query.goal import First, Steady

_MOST_DIGITS = 9
_THOUSAND, _LONG = 1e3, 1e7
"""Between these, figures are written out."""


def reason_for(
    chosen: Alternative,
    others: Sequence[Alternative],
    order: Order,
    preferences: Sequence[Preference] = (),
    *,
    is_forced: bool = False,
) -> str:
    """`least work of 4 plans: 0.14 s/s of work against 0.165`."""
    if not others:
        return "forced by --plan" if is_forced else "the only plan weighed"
    best = others[0]
    if is_forced:
        compared = _compare(best, chosen, order)
        return f"forced by --plan; {compared} for {render_plan(best.plan)}"
    if preferences:
        return "; ".join(_preference(each) for each in preferences)
    count = len(others) + 1
    reason = f"{_merit(chosen, order)} of {count} plans: {_compare(chosen, best, order)}"
    return reason + _best_kept(chosen, others, order)


def budget_text(effort: Effort) -> str:
    """What is said where there was more to weigh than planning may take; else nothing."""
    if not effort.left_out:
        return ""
    spent = f"within the budget of {effort.most:,} evaluations"
    plans = "plan was" if effort.left_out == 1 else "plans were"
    return f"; the best {spent}: {effort.left_out:,} more {plans} not weighed"


def _preference(preference: Preference) -> str:
    """Why a plan is chosen that is not the best by its figures, and these figures."""
    taken, other = preference.taken.estimate, preference.instead_of.estimate
    unit = _unit(preference.taken, preference.instead_of)
    mine, its = _told_apart(taken.work, other.work)
    match preference.rule:
        case "kept":
            return (
                f"the view is kept, as recomputing it is not clearly better: it takes {its} "
                f"{unit} against {mine}, and not {percent_text(CLEARLY)} of it or less"
            )
        case "guessed folding":
            return (
                "the view is kept, as only a guess says that recomputing it is better: "
                f"{mine} {unit} against {its}"
            )
        case "FROM order":
            return (
                f"the order of FROM, as no plan is clearly better: {mine} {unit}, and the best "
                f"takes {its}"
            )
    states = f"{number(taken.state)} tuples against {number(other.state)}"
    mine, its = _told_apart(taken.utilization, other.utilization)
    return (
        f"least state of the plans that guesses cannot tell apart: {states}, at {mine} s/s of work "
        f"against {its}"
    )


def percent_text(fraction: float) -> str:
    """`90 %`."""
    return f"{100 * fraction:.3g} %"


def _best_kept(chosen: Alternative, others: Sequence[Alternative], order: Order) -> str:
    """What keeping the view would come to, where it is recomputed and the next best is too."""
    kept = next((other for other in others if recomputed_by(other.plan) is None), None)
    if kept is None or kept is others[0] or recomputed_by(chosen.plan) is None:
        return ""
    if order.deciding(chosen, kept) == "lost" and order.keeps_up(kept):
        return f"; the best that is kept {kept.estimate.output_rate:,.4g} results/s"
    return f"; the best that is kept {kept.estimate.work:.3g}"


def _merit(chosen: Alternative, order: Order) -> str:
    if isinstance(order.goal, First):
        return "soonest"
    if not isinstance(order.goal, Steady):
        return "most results by then"
    found = chosen.estimate
    is_shed = found.output_rate < found.full_rate * (1 - 1e-9)
    return "fewest results lost" if is_shed else "least work"


def _compare(one: Alternative, other: Alternative, order: Order) -> str:
    """Two plans in the figure that decides between them."""
    left, right = one.estimate, other.estimate
    unit = _unit(one, other)
    match order.deciding(one, other):
        case "measure":
            unit = " s" if isinstance(order.goal, First) else ""
            return _measures(left.measure, right.measure, unit)
        case "lost" if order.keeps_up(one) and order.keeps_up(other):
            mine, its = _told_apart(left.output_rate, right.output_rate)
            return f"{mine} results/s against {its}"
        case "lost":
            mine, its = _told_apart(left.utilization, right.utilization)
            return f"{mine} s/s of work against {its}, which is more than there is"
        case "work":
            mine, its = _told_apart(left.work, right.work)
            return f"{mine} {unit} against {its}"
        case "state":
            return f"{left.work:.3g} {unit}, the next as much with more state"
    return f"{left.work:.3g} {unit}, the next as much"


def _unit(*plans: Alternative) -> str:
    """Starting batches is no work on the data, but counts where plans are compared."""
    starts = any(plan.estimate.starting for plan in plans)
    return "s/s of work and starting batches" if starts else "s/s of work"


def _told_apart(one: float, other: float) -> tuple[str, str]:
    """Two figures with as many digits, from three on, as it takes to tell them apart."""
    for digits in range(3, _MOST_DIGITS + 1):
        mine, its = (_figure(each, digits) for each in (one, other))
        if mine != its:
            break
    return mine, its


def _figure(value: float, digits: int) -> str:
    rounded = float(f"{value:.{digits}g}")
    return f"{rounded:,.0f}" if _THOUSAND <= rounded < _LONG else f"{rounded:.{digits}g}"


def _measures(one: float | None, other: float | None, unit: str) -> str:
    if one is None or other is None:
        return " against ".join("never" if m is None else f"{m:.3g}{unit}" for m in (one, other))
    mine, its = _told_apart(one, other)
    return f"{mine}{unit} against {its}{unit}"
