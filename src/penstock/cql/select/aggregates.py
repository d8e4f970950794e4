"""Aggregates in SELECT and HAVING: where they stand, and what they are of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from sqlglot import exp

from penstock.cql.expressions.functions import AGGREGATES
from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.scope import Scope
from penstock.cql.select.aggregate_arguments import TAKES
from penstock.cql.select.binding import bind_condition, typed
from penstock.query.expression import Call, Expression, Literal
from penstock.query.types import DataType
from penstock.query.view import AggregateFunction


@dataclass(frozen=True)
class Asked:
    """An aggregate as the engine computes it: equal ones are computed once."""

    function: AggregateFunction

    argument: Expression | None
    """What the join gives for it; None where rows are counted."""


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a part of the tree calls an aggregate, with all that belongs to the call."""
    return _called(node) is not None


def find_aggregates(roots: Iterable[exp.Expr]) -> Iterator[exp.Expr]:
    """The aggregates in parts of the tree, but none inside another, as they are written."""
    for root in roots:
        yield from filter(is_aggregate, root.walk(bfs=False, prune=is_aggregate))


def bind_aggregate(scope: Scope, node: exp.Expr) -> Asked:
    """Which aggregate it is, and of what."""
    call = _called(node)
    assert call is not None, "only aggregates are looked at"
    asked = _bind_call(scope, call)
    if not isinstance(node, exp.Filter):
        return asked
    condition = bind_condition(scope, node.expression.this, "FILTER")
    return Asked(asked.function, _where(condition, asked.argument))


def _called(node: exp.Expr) -> exp.Anonymous | None:
    """The call of an aggregate in `SUM(x)` and in `SUM(x) FILTER (WHERE …)`."""
    call = node.this if isinstance(node, exp.Filter) else node
    is_one = isinstance(call, exp.Anonymous) and call.name.lower() in AGGREGATES
    return cast("exp.Anonymous", call) if is_one else None


def _where(condition: Expression, argument: Expression | None) -> Expression:
    """The argument where a condition holds, else NULL, which every aggregate leaves out."""
    value = Literal(1, DataType.INT) if argument is None else argument
    return Call("case", (condition, value, Literal(None, value.type)), value.type)


def _bind_call(scope: Scope, node: exp.Anonymous) -> Asked:
    name = node.name.upper()
    takes, argument = TAKES[node.name.lower()], _argument(scope, node)
    if _is_star(argument):
        if takes.function != "count":
            raise scope.text.error(
                node_span(argument), "only COUNT takes a *", f"write {name}(column)"
            )
        scope.star(argument)
        return Asked("count", None)
    of = typed(scope, argument)
    if of.type is DataType.NULL:
        hint = "give it one: CAST(NULL AS INT)"
        raise scope.text.error(of.span, "this NULL has no type", hint)
    return Asked(takes.function, takes.accept(scope.text, name, of))


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
