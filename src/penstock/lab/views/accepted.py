"""Which plans of views the laboratory runs; the others are refused with what is in the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from penstock.engine.rows.layout import Layout
from penstock.errors import PlanError
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from penstock.query import Aggregate, DataType, Expression, Query, View
from penstock.query.expression import streams_of

_WHOLE = frozenset({DataType.TINYINT, DataType.SMALLINT, DataType.INT, DataType.BIGINT})
"""What is added up must come out exactly when it is taken away again."""


def accepted(plan: Plan) -> tuple[MultiwayJoin, View]:
    """The plan and its view, if the laboratory runs them."""
    view = plan.query.view
    if view is None or not isinstance(plan, MultiwayJoin) or plan.recompute is not None:
        raise PlanError("the laboratory aggregates multi-way joins of views that are kept")
    wrong = next(_obstacles(plan.query, view), None)
    if wrong is None and plan.drops.kept:
        wrong = "drop boxes"
    if wrong is not None:
        hint = "run the view in batches: leave out --eager and --every"
        raise PlanError(f"views do not run in the laboratory with {wrong}", hint=hint)
    return plan, view


def expressions_of(query: Query) -> dict[str, Expression]:
    """What the join gives, by name: groups and arguments of the view."""
    return {output.name: output.expression for output in query.outputs}


def _obstacles(query: Query, view: View) -> Iterator[str]:
    layout, given = Layout(query), expressions_of(query)
    if len(layout.keys) != 1 or set(layout.keys[0].streams) != set(query.aliases):
        yield "anything but one key that all inputs share"
    if view.top is not None:
        yield "only the first rows of a view"
    if layout.checks:
        yield f"the predicate {layout.checks[0]}"
    for name in (*(group.name for group in view.groups), *view.arguments):
        if len(streams_of(given[name])) > 1:
            yield f"{name}, which reads several inputs"
    for aggregate in view.aggregates:
        if aggregate.function in ("min", "max"):
            yield f"{aggregate.written}, which no tuple can be taken out of"
        elif aggregate.function not in ("count", "sum", "avg"):
            yield f"{aggregate.written}, which it does not compute"
        if aggregate.function != "count" and not _is_whole(aggregate, given):
            yield f"{aggregate.function.upper()} of anything but whole numbers"


def _is_whole(aggregate: Aggregate, given: Mapping[str, Expression]) -> bool:
    return aggregate.argument is None or given[aggregate.argument.name].type in _WHOLE
