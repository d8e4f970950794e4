"""Which of the plans is taken: the best, or one that is as good as that and safer.

Each preference notes the plans that it compared, so that the reason given is the reason there was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from penstock.optimize.joins.candidates import FROM_ORDER
from penstock.optimize.model.distinct import is_folding_guessed
from penstock.optimize.model.facts import guesses
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.recompute import unfolded_seconds
from penstock.optimize.preferences.ranking import Order
from penstock.plan.decision import Alternative
from penstock.plan.plan import Plan, recomputed_by
from penstock.query.goal import Steady
from penstock.stats.calibration import Engine

Rule = Literal["kept", "guessed folding", "least state", "FROM order"]

ALIKE = 1.25
"""How many times the least work a plan may need and be as good as the best, going by guesses."""
CLEARLY = 0.9
"""What part of another plan's work a plan may need at the most to be clearly better."""
HARMLESS = 0.1
"""What part of the capacity merging windows in which nothing folds may take at the most, for a view
to be recomputed though it is only guessed that they fold: so much is lost if that is wrong."""


@dataclass(frozen=True)
class Preference:
    """A plan that was taken instead of a better one, and by which rule."""

    rule: Rule
    taken: Alternative
    instead_of: Alternative


def preferences(
    ranked: Sequence[Alternative], problem: Problem, order: Order, engine: Engine
) -> Iterator[Preference]:
    """The rules that give way to another plan than the best, one after the other."""
    if not isinstance(order.goal, Steady):
        return
    taken = ranked[0]
    rules = (
        _kept,
        *((_least_state,) if guesses(problem.known) else ()),
        *((_own_order,) if _knows_batches(problem, engine) else ()),
    )
    for rule in rules:
        found = rule(ranked, taken, problem, order)
        if found is not None and found.taken is not taken:
            yield found
            taken = found.taken


def _kept(
    ranked: Sequence[Alternative], best: Alternative, problem: Problem, order: Order
) -> Preference | None:
    """The best plan that keeps its view, unless recomputing it is clearly better.

    How much better depends on how long batches are, which a plan does not know, and on how far the
    windows fold.
    """
    kept = next((a for a in ranked if recomputed_by(a.plan) is None), None)
    if recomputed_by(best.plan) is None or kept is None or not _needs_no_shedding(kept, order):
        return None
    if not is_clearly_less(best, kept):
        return Preference("kept", kept, best)
    return None if _is_sure(problem, best.plan) else Preference("guessed folding", kept, best)


def is_clearly_less(one: Alternative, other: Alternative) -> bool:
    """Whether a plan needs clearly less work than another."""
    return one.estimate.work <= CLEARLY * other.estimate.work


def _is_sure(problem: Problem, plan: Plan) -> bool:
    """Whether a plan folds by what is given, or does little harm where that is wrong."""
    if not any(is_folding_guessed(problem.known, alias) for alias in plan.early):
        return True
    return unfolded_seconds(problem, plan.early) <= HARMLESS * problem.known.capacity.value


def _least_state(
    ranked: Sequence[Alternative], best: Alternative, _: Problem, order: Order
) -> Preference | None:
    """Of the plans that guesses cannot tell from the best, the one that keeps the least.

    What is kept is what a wrong guess costs. A plan that keeps up gives way to none that does not,
    and inputs are folded for the work that it saves, not for a little state.
    """
    most = best.estimate.utilization * ALIKE
    alike = [
        a
        for a in ranked
        if _aggregate_alike(a.plan, best.plan)
        and a.estimate.utilization <= most
        and a.estimate.output_rate * ALIKE >= best.estimate.output_rate
        and (order.keeps_up(a) or not order.keeps_up(best))
        and (_needs_no_shedding(a, order) or not _needs_no_shedding(best, order))
    ]
    return Preference("least state", min(alike, key=lambda a: a.estimate.state), best)


def _knows_batches(problem: Problem, engine: Engine) -> bool:
    return engine != "laboratory" and problem.known.costs.origin == "measured"


def _own_order(
    ranked: Sequence[Alternative], best: Alternative, _: Problem, order: Order
) -> Preference | None:
    """FROM's own order, unless the best plan is clearly better than it.

    Seconds of batches are not predicted to the last percent, and a change for nothing is a risk.
    """
    for own in ranked:
        if FROM_ORDER in own.found_by and _aggregate_alike(own.plan, best.plan):
            is_good = _needs_no_shedding(own, order) and not is_clearly_less(best, own)
            return Preference("FROM order", own, best) if is_good else None
    return None


def _needs_no_shedding(alternative: Alternative, order: Order) -> bool:
    return alternative.estimate.needed <= order.capacity


def _aggregate_alike(one: Plan, other: Plan) -> bool:
    """Whether plans differ in the order of their joins only."""
    return (one.early, recomputed_by(one)) == (other.early, recomputed_by(other))
