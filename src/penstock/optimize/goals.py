"""Goals as the planner follows them: a share of all results becomes a number of them."""

from __future__ import annotations

from dataclasses import replace
from math import floor

from penstock.errors import PlanError
from penstock.optimize.curves.arrivals import last_arrival
from penstock.optimize.curves.curve import results_curve
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import PlanOptions
from penstock.papers.curve import ROUNDING
from penstock.query.goal import First


def with_results(problem: Problem, options: PlanOptions) -> PlanOptions:
    """The options with the number of results that a goal wants a share of."""
    goal = options.goal
    if not isinstance(goal, First) or goal.share is None:
        return options
    end = last_arrival(problem)
    if end is None:
        raise PlanError(
            f"{goal} is a share of all results, and there are streams that never end",
            hint="give the cardinalities of all streams in the stats file, or ask for a number of "
            "results: first:1000",
        )
    total = results_curve(problem, end).total if end else 0.0
    wanted = max(1, floor(goal.share * total * (1 + ROUNDING)))
    return replace(options, goal=First(wanted, goal.share))
