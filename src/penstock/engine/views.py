"""Views, which the engines do not run yet."""

from __future__ import annotations

from penstock.errors import PlanError
from penstock.query import Query


def refuse_views(query: Query) -> None:
    """Refuse a query that groups or aggregates."""
    if query.view is not None:
        raise PlanError(
            "queries with GROUP BY or aggregates can be explained, but not yet run",
            hint="select the columns themselves, and aggregate the results",
        )
