"""Which inputs of a view are samples under a plan's drop boxes."""

from __future__ import annotations

from penstock.plan.plan import Plan
from penstock.query import Query, TimeWindow
from penstock.query.intervals import with_intervals


def sampled_by(plan: Plan) -> dict[str, float]:
    """The inputs of a view whose kept tuples stand for others, with the fractions that are kept.

    A ROWS window is always full: what is shed of its stream makes it reach further back instead.
    """
    query = plan.query
    if query.view is None:
        return {}
    return {
        alias: fraction
        for alias, fraction in plan.drops.kept
        if fraction < 1.0 and isinstance(query.input(alias).window, TimeWindow)
    }


def shown_query(plan: Plan) -> Query:
    """The query with the intervals that its results have under the plan."""
    is_estimate = plan.drops.estimates and sampled_by(plan)
    return with_intervals(plan.query) if is_estimate else plan.query
