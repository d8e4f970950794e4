"""Aggregates in SELECT and HAVING: where they stand, and what they are of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

from sqlglot import exp

from penstock.cql.expressions.coercion import Typed
from penstock.cql.expressions.functions import AGGREGATES
from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.scope import Scope
from penstock.cql.select.aggregate_arguments import TAKES, TAKES_DISTINCT
from penstock.cql.select.binding import bind_condition, typed
from penstock.cql.select.chosen_by import by_time, by_value, pair_where, where
from penstock.query.expression import Call, Expression, Literal
from penstock.query.types import DataType
from penstock.query.view import AggregateFunction

_USAGE = {"MAX_BY": "value, by", "MIN_BY": "value, by", "APPROX_PERCENTILE": "value, 0.95"}


@dataclass(frozen=True)
class Asked:
    """An aggregate as the engine computes it: equal ones are computed once."""

    function: AggregateFunction

    argument: Expression | None
    """What the join gives for it; None where rows are counted."""

    fraction: Fraction | None = None
    """Which percentile it is."""


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a part of the tree calls an aggregate, with all that belongs to the call."""
    return _called(node) is not None


def find_aggregates(roots: Iterable[exp.Expr]) -> Iterator[exp.Expr]:
    """The aggregates in parts of the tree, but none inside another, as they are written."""
    for root in roots:
        yield from filter(is_aggregate, root.walk(bfs=False, prune=is_aggregate))


def asks_for_view(tree: exp.Expr) -> bool:
    """Whether a SELECT groups or aggregates, or is DISTINCT."""
    has_clause = any(tree.args.get(name) for name in ("distinct", "group", "having"))
    return bool(has_clause) or any(True for _ in find_aggregates(tree.expressions))


def bind_aggregate(scope: Scope, node: exp.Expr) -> Asked:
    """Which aggregate it is, and of what."""
    call = _called(node)
    assert call is not None, "only aggregates are looked at"
    asked = _bind_call(scope, call)
    for part in node.find_all(exp.Filter):
        condition = bind_condition(scope, part.expression.this, "FILTER")
        return replace(asked, argument=_where(condition, asked.argument))
    return asked


def _called(node: exp.Expr) -> exp.Anonymous | None:
    """The call of an aggregate in `SUM(x)` and in `SUM(x) FILTER (WHERE …)`.

    `IGNORE NULLS` may be said of any: they all do.
    """
    while isinstance(node, exp.Filter | exp.IgnoreNulls):
        node = node.this
    is_one = isinstance(node, exp.Anonymous) and node.name.lower() in AGGREGATES
    return cast("exp.Anonymous", node) if is_one else None


def _where(condition: Expression, argument: Expression | None) -> Expression:
    """The argument where a condition holds, else NULL."""
    if isinstance(argument, Call) and argument.function == "pair":
        return pair_where(condition, argument)
    return where(condition, Literal(1, DataType.INT) if argument is None else argument)


def _bind_call(scope: Scope, node: exp.Anonymous) -> Asked:
    name = node.name.upper()
    match name:
        case "MAX_BY" | "MIN_BY":
            value, by = (_typed(scope, each) for each in _arguments(scope, node, 2))
            function: AggregateFunction = "max_by" if name == "MAX_BY" else "min_by"
            return Asked(function, by_value(scope, name, value, by))
        case "FIRST" | "LAST":
            (argument,) = _arguments(scope, node, 1)
            function = "max_by" if name == "LAST" else "min_by"
            return Asked(function, by_time(scope, name, _typed(scope, argument), node))
        case "APPROX_PERCENTILE":
            argument, share = _arguments(scope, node, 2)
            fraction = _fraction(scope, share)
            of = TAKES["approx_percentile"].accept(scope.text, name, _typed(scope, argument))
            return Asked("approx_percentile", of, fraction)
    (argument,) = _arguments(scope, node, 1)
    if isinstance(argument, exp.Distinct):
        return _bind_distinct(scope, node, argument)
    takes = TAKES[node.name.lower()]
    if _is_star(argument) and takes.function == "count":
        scope.star(argument)
        return Asked("count", None)
    return Asked(takes.function, takes.accept(scope.text, name, _typed(scope, argument)))


def _bind_distinct(scope: Scope, node: exp.Anonymous, distinct: exp.Distinct) -> Asked:
    """`COUNT(DISTINCT x)` and the like."""
    name, takes = node.name.upper(), TAKES_DISTINCT.get(node.name.lower())
    if takes is None:
        hint = "DISTINCT stands in COUNT, SUM and AVG"
        raise scope.text.error(node_span(node), f"{name} takes no DISTINCT", hint)
    if len(distinct.expressions) != 1:
        message = f"{name}(DISTINCT …) takes 1 argument, not {len(distinct.expressions)}"
        hint = "make one of them: COUNT(DISTINCT CONCAT(a, '/', b))"
        raise scope.text.error(node_span(distinct), message, hint)
    (argument,) = distinct.expressions
    return Asked(takes.function, takes.accept(scope.text, name, _typed(scope, argument)))


def _fraction(scope: Scope, node: exp.Expr) -> Fraction:
    """The fraction of a percentile, as it is written: 0.1 is a tenth."""
    is_number = isinstance(node, exp.Literal) and not node.is_string
    if not is_number or not 0 <= Fraction(node.name) <= 1:
        message = "the fraction of APPROX_PERCENTILE must be a constant from 0 to 1"
        hint = "write it like APPROX_PERCENTILE(x, 0.95)"
        raise scope.text.error(node_span(node), message, hint)
    return Fraction(node.name)


def _typed(scope: Scope, node: exp.Expr) -> Typed:
    """An argument, which has a type."""
    if _is_star(node):
        hint = "write the column that is meant"
        raise scope.text.error(node_span(node), "only COUNT takes a *", hint)
    of = typed(scope, node.this if isinstance(node, exp.IgnoreNulls) else node)
    if of.type is DataType.NULL:
        hint = "give it one: CAST(NULL AS INT)"
        raise scope.text.error(of.span, "this NULL has no type", hint)
    return of


def _arguments(scope: Scope, node: exp.Anonymous, count: int) -> list[exp.Expr]:
    if len(node.expressions) != count:
        name, plural = node.name.upper(), "" if count == 1 else "s"
        message = f"{name} takes {count} argument{plural}, not {len(node.expressions)}"
        usage = _USAGE.get(name, "value")
        hint = "write COUNT(*) or COUNT(value)" if name == "COUNT" else f"write {name}({usage})"
        raise scope.text.error(node_span(node), message, hint)
    return cast("list[exp.Expr]", node.expressions)


def _is_star(node: exp.Expr) -> bool:
    return isinstance(node.this if isinstance(node, exp.Column) else node, exp.Star)
