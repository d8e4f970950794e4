"""Queries and goals that no plan can serve, refused with what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod

from penstock.errors import PlanError
from penstock.optimize.curves.arrivals import last_arrival
from penstock.optimize.curves.reach import is_enough, long_enough
from penstock.optimize.estimate import endless
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import PlanOptions
from penstock.optimize.preferences.ranking import OVER, Ranking
from penstock.plan.decision import Alternative
from penstock.query.goal import First, Steady

_MOST = 1e100
"""Combinations a second, whatever their predicates say; squares of more would overflow."""


def refuse_unplannable(problem: Problem, options: PlanOptions) -> None:
    """Refuse what cannot be planned for, before any plan is weighed."""
    _refuse_overflow(problem)
    _refuse_endless_product(problem)
    if problem.query.outer is not None:
        _refuse_for_outer(problem.query.outer.name, options)
    if problem.query.view is not None and problem.query.view.top is not None and options.sheds:
        raise PlanError(
            "the first rows of a view do not go with shedding: others would seem to be the first",
            hint="give it more capacity, or narrower windows",
        )
    if options.estimator == "cardinality":
        _refuse_no_cardinality(problem, options)
    if options.sheds and not isinstance(options.goal, Steady):
        raise PlanError(
            f"the goal {options.goal} does not go with shedding",
            hint="shed under the goal steady; other goals let the work wait",
        )


def _refuse_for_outer(name: str, options: PlanOptions) -> None:
    """Refuse what would make tuples seem to have no partner, and who does not ask for any."""
    if options.sheds:
        raise PlanError(
            f"{name} does not go with shedding: who has lost its partner would seem to have none",
            hint="give it more capacity, or narrower windows",
        )
    if options.engine == "laboratory":
        raise PlanError(
            f"the laboratory does not run {name}",
            hint="leave out --eager, --every and --cost, or join by JOIN … ON …",
        )


def _refuse_no_cardinality(problem: Problem, options: PlanOptions) -> None:
    """Refuse to compare by cardinalities where there are none, or no trees."""
    if problem.known.horizon is None and endless(problem):
        raise PlanError(
            f"{endless(problem)[0]} never ends and has no window: it has no cardinality",
            hint="give its cardinality in the stats file, or compare plans by rates",
        )
    if "tree" not in options.kinds and problem.size > 1:
        raise PlanError(
            "the cardinality estimator compares join trees only", hint="allow them: --kinds tree"
        )


def refuse_unreachable(
    problem: Problem, options: PlanOptions, plans: Sequence[Alternative]
) -> None:
    """Refuse a first-N goal that not even the best plan meets."""
    if not isinstance(options.goal, First):
        return
    goal, ranking = options.goal, Ranking(options.goal, problem.known.capacity.value)
    curve = long_enough(problem, ranking.best(plans).plan, goal.results)
    if is_enough(curve, goal.results):
        return
    most = curve.total
    span = "in a century" if last_arrival(problem) is None else "in all"
    raise PlanError(
        f"{goal}: there will be only about {most:,.0f} results {span}",
        hint=f"ask for fewer: first:{int(most)}"
        if most >= 1
        else "look at windows and selectivities: hardly anything meets",
    )


def refuse_shedding(problem: Problem, chosen: Alternative) -> None:
    """Refuse to shed where nobody knows how much, or where even that is not enough."""
    capacity = problem.known.capacity.value
    if problem.known.horizon is None and endless(problem):
        raise PlanError(
            f"{endless(problem)[0]} is UNBOUNDED: how much to shed depends on how long it runs",
            hint="give a horizon in the stats file, such as horizon = '1 hour'",
        )
    if chosen.estimate.utilization > capacity * (1 + OVER):
        raise PlanError(
            f"no plan fits: {chosen.estimate.utilization:.3g} of "
            f"{capacity:g} is needed even when all that can be is shed",
            hint=_larger(problem),
        )


def _refuse_overflow(problem: Problem) -> None:
    """Refuse what floating-point numbers cannot tell apart from infinity."""
    flows = problem.inputs
    if max(flow.rate for flow in flows) * prod(max(1.0, flow.window) for flow in flows) > _MOST:
        raise PlanError(
            f"more than {_MOST:g} combinations of tuples a second are more than can be planned for",
            hint="look at the rates and windows: is one in another unit?",
        )


def _refuse_endless_product(problem: Problem) -> None:
    """Refuse two endless streams that no predicate links, directly or through others."""
    for one, other in combinations(endless(problem), 2):
        if not _is_connected(problem, one, other):
            raise PlanError(
                f"{one} and {other} are endless, have no window, and no predicate links them",
                hint="give one of them a window, such as [RANGE 1 HOUR], or join them on a column",
            )


def _is_connected(problem: Problem, one: str, other: str) -> bool:
    links = [*problem.key_masks, *(mask for mask, _ in problem.theta_masks)]
    reached, target = problem.mask([one]), problem.mask([other])
    for _ in range(problem.size):
        for link in links:
            reached |= link if link & reached else 0
    return bool(reached & target)


def _larger(problem: Problem) -> str:
    """What to give a query that no shedding is enough for; views over ROWS windows join whole
    windows at each evaluation, whatever is shed."""
    if problem.query.view is not None and problem.query.is_sequenced:
        return "give it more capacity, a longer EVERY, or smaller ROWS windows"
    return "give it more capacity, or a longer rows_warmup"
