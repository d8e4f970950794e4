"""Views, which the laboratory does not run."""

from __future__ import annotations

from penstock.errors import PlanError
from penstock.query import Query

NESTED = ("nested loops on equalities run", "--engine local --eager", "leave /nested out")
"""Of plans with nested loops where there is a key, for `laboratory_hint`."""


def laboratory_hint(query: Query, what: str, options: str, otherwise: str) -> str:
    """The hint about a plan that batches do not run: the laboratory does, but has no views."""
    return otherwise if query.view is not None else f"{what} in the laboratory: {options}"


def refuse_views(query: Query) -> None:
    """Refuse a query that groups or aggregates."""
    if query.view is not None:
        raise PlanError(
            "queries with GROUP BY or aggregates do not run in the laboratory",
            hint="run them in batches: leave out --eager and --every",
        )
