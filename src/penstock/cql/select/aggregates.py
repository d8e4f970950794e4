"""Aggregates in SELECT and HAVING: where they stand, and what they take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from sqlglot import exp

from penstock.cql.expressions.coercion import Typed, demand, demand_number
from penstock.cql.expressions.functions import AGGREGATES
from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.members import INSIDE
from penstock.cql.reading.scope import Scope
from penstock.cql.select.binding import typed
from penstock.query.expression import Expression, Literal
from penstock.query.types import DataType
from penstock.query.view import AggregateFunction


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a part of the tree calls an aggregate."""
    return isinstance(node, exp.Anonymous) and node.name.lower() in AGGREGATES


def find_aggregates(roots: Iterable[exp.Expr]) -> Iterator[exp.Anonymous]:
    """The aggregates in parts of the tree, but none inside another, as they are written."""
    for root in roots:
        for node in root.walk(bfs=False, prune=is_aggregate):
            if isinstance(node, exp.Anonymous) and is_aggregate(node):
                yield node


def asks_for_view(tree: exp.Expr) -> bool:
    """Whether a SELECT groups or aggregates."""
    has_clause = tree.args.get("group") or tree.args.get("having")
    return bool(has_clause) or any(True for _ in find_aggregates(tree.expressions))


def bind_aggregate(
    scope: Scope, node: exp.Anonymous
) -> tuple[AggregateFunction, Expression | None]:
    """Which aggregate it is, and of what; None where rows are counted."""
    function = cast("AggregateFunction", node.name.lower())
    argument = _argument(scope, node)
    if _is_star(argument):
        if function != "count":
            hint = f"write {function.upper()}(column)"
            raise scope.text.error(node_span(argument), "only COUNT takes a *", hint)
        scope.star(argument)
        return function, None
    of = typed(scope, argument)
    if of.type is DataType.NULL:
        hint = "give it one: CAST(NULL AS INT)"
        raise scope.text.error(of.span, "this NULL has no type", hint)
    return function, _accepted(scope, function, of)


def _argument(scope: Scope, node: exp.Anonymous) -> exp.Expr:
    if len(node.expressions) != 1:
        name = node.name.upper()
        message = f"{name} takes 1 argument, not {len(node.expressions)}"
        hint = "write COUNT(*) or COUNT(value)" if name == "COUNT" else f"write {name}(value)"
        raise scope.text.error(node_span(node), message, hint)
    (argument,) = node.expressions
    return cast("exp.Expr", argument)


def _is_star(node: exp.Expr) -> bool:
    return isinstance(node.this if isinstance(node, exp.Column) else node, exp.Star)


def _accepted(scope: Scope, function: AggregateFunction, of: Typed) -> Expression | None:
    if function in ("sum", "avg") and of.type.is_temporal:
        message = f"{function.upper()} needs a number, but this is {of.type}"
        raise scope.text.error(of.span, message, "times have COUNT, MIN and MAX")
    match function:
        case "count":
            # A constant that is not NULL counts rows.
            return None if isinstance(of.expression, Literal) else of.expression
        case "sum":
            return demand_number(scope.text, of, "SUM")
        case "avg" if of.type.is_decimal:
            return of.expression
        case "avg":
            return demand(scope.text, of, "AVG", DataType.DOUBLE)
    if of.type.is_nested:
        message = f"{function.upper()} needs values in an order, but this is {of.type}"
        raise scope.text.error(of.span, message, INSIDE)
    if of.type is DataType.BOOLEAN:
        message = f"{function.upper()} needs values in an order, but this is BOOLEAN"
        raise scope.text.error(of.span, message, "convert it: CAST(… AS INT)")
    return of.expression
