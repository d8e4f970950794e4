"""The trees that V&N's heuristics, and the least work by then, propose for goals over time."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.optimize.curves.arrivals import last_arrival
from penstock.optimize.curves.curve import results_curve
from penstock.optimize.curves.reach import ideal_time
from penstock.optimize.curves.totals import totals_by
from penstock.optimize.joins.goal_search import GoalSearch, Metric
from penstock.optimize.model.problem import Problem
from penstock.plan.tree import Node
from penstock.query.goal import By, First, Goal

MOST_INPUTS = 15
"""Up to so many inputs all sets are gone through (32,768)."""

NAMES: dict[Metric, str] = {
    "work": "least work by then",
    "rate": "local rate maximization",
    "time": "local time minimization",
}

Asked = tuple[float, float, tuple[Metric, ...]]
"""A time, the share of the results by then that is wanted, and the metrics to search by."""


def goal_trees(
    problem: Problem, goal: Goal, *, bushy: bool, products: bool
) -> Iterator[tuple[Node | None, str]]:
    """The trees that are proposed for a goal; none where there are too many sets of inputs."""
    tabled = problem.tabled(MOST_INPUTS)
    if tabled is None:
        return
    for seconds, share, metrics in _asked(problem, goal):
        totals = totals_by(tabled, seconds)
        for is_bushy in (True, False) if bushy else (False,):
            search = GoalSearch(totals, is_bushy, products, share)
            for metric in metrics:
                shape = "" if is_bushy else ", left-deep"
                yield search.best(metric), NAMES[metric] + shape


def _asked(problem: Problem, goal: Goal) -> Iterator[Asked]:
    match goal:
        case By(seconds=seconds):
            yield seconds, 1.0, ("work", "time")
            # V&N §4.2.1: time is taken as half of what there is.
            yield seconds / 2, 1.0, ("rate",)
        case First(results=results):
            first = ideal_time(problem, results)
            if not first:
                return
            yield first, 1.0, ("work", "rate", "time")
            end = last_arrival(problem)
            if end is not None and end > first:
                # V&N §4.2.2: of all that there will be, a share is wanted.
                share = results / results_curve(problem, end).total
                yield end, share, ("time",)
