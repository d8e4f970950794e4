"""Why the chosen plan was chosen, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.optimize.candidates import FROM_ORDER
from penstock.plan.decision import Alternative
from penstock.plan.force import render_plan
from penstock.plan.plan import anew_by
from penstock.query.goal import First, Goal, Steady


def reason_for(
    chosen: Alternative,
    others: Sequence[Alternative],
    goal: Goal,
    *,
    is_forced: bool = False,
    is_sure: bool = True,
) -> str:
    """`least work of 4 plans: 0.14 s/s of work against 0.165`.

    `is_sure` says whether the best other plan rests on no guess that may do harm.
    """
    if not others:
        return "forced by --plan" if is_forced else "the only plan weighed"
    best = others[0]
    if not is_forced and isinstance(goal, Steady) and _is_worse(chosen, best):
        return f"{_preference(chosen, best, is_sure)}: {_compare(chosen, best, goal)}"
    if is_forced:
        return f"forced by --plan; {_compare(best, chosen, goal)} for {render_plan(best.plan)}"
    count = len(others) + 1
    reason = f"{_merit(chosen, goal)} of {count} plans: {_compare(chosen, best, goal)}"
    return reason + _best_kept(chosen, others)


def _preference(chosen: Alternative, best: Alternative, is_sure: bool) -> str:
    """Why a plan is chosen that is not the one of least work."""
    if anew_by(best.plan) != anew_by(chosen.plan):
        if not is_sure:
            return "the view is kept, as only a guess says that computing it anew is better"
        return "the view is kept, as computing it anew is not clearly better"
    if FROM_ORDER in chosen.found_by:
        return "the order of FROM, as no plan is clearly better"
    return "least state of the plans that guesses cannot tell apart"


def _best_kept(chosen: Alternative, others: Sequence[Alternative]) -> str:
    """What keeping the view would come to, where it is computed anew and the next best is too."""
    kept = next((other for other in others if anew_by(other.plan) is None), None)
    if kept is None or kept is others[0] or anew_by(chosen.plan) is None:
        return ""
    found = kept.estimate
    if _loses(chosen) or _loses(kept):
        return f"; the best that is kept {found.output_rate:,.4g} results/s"
    return f"; the best that is kept {found.utilisation:.3g}"


def _merit(chosen: Alternative, goal: Goal) -> str:
    if isinstance(goal, First):
        return "soonest"
    if not isinstance(goal, Steady):
        return "most results by then"
    return "fewest results lost" if _loses(chosen) else "least work"


def _compare(one: Alternative, other: Alternative, goal: Goal) -> str:
    left, right = one.estimate, other.estimate
    if not isinstance(goal, Steady):
        unit = " s" if isinstance(goal, First) else ""
        if left.measure != right.measure:
            return f"{_number(left.measure)}{unit} against {_number(right.measure)}{unit}"
    elif _loses(one) or _loses(other):
        return f"{left.output_rate:,.4g} results/s against {right.output_rate:,.4g}"
    if f"{left.utilisation:.3g}" == f"{right.utilisation:.3g}":
        return f"{left.utilisation:.3g} s/s of work, the next as much"
    return f"{left.utilisation:.3g} s/s of work against {right.utilisation:.3g}"


def _is_worse(one: Alternative, other: Alternative) -> bool:
    """Whether more work is done for no more results."""
    left, right = one.estimate, other.estimate
    more = left.utilisation > right.utilisation * (1 + 1e-9)
    return more and left.output_rate <= right.output_rate * (1 + 1e-9)


def _loses(alternative: Alternative) -> bool:
    found = alternative.estimate
    return found.output_rate < found.full_rate * (1 - 1e-9)


def _number(value: float | None) -> str:
    return "never" if value is None else f"{value:,.4g}"
