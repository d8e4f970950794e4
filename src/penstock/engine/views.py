"""Views, which the laboratory does not run."""

from __future__ import annotations

from penstock.errors import PlanError
from penstock.query import Query


def refuse_views(query: Query) -> None:
    """Refuse a query that groups or aggregates."""
    if query.view is not None:
        raise PlanError(
            "queries with GROUP BY or aggregates do not run in the laboratory",
            hint="run them in batches: leave out --eager and --every",
        )
