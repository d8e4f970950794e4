"""What rows are ordered and parted by, as expressions."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.members import INSIDE
from penstock.cql.reading.scope import Scope
from penstock.cql.select.binding import bind
from penstock.cql.select.ranking.ranking import Ranking
from penstock.query.expression import Expression, columns_of
from penstock.query.ranking import NUMBER, Order, Top

Over = Callable[[exp.Expr, Expression], Expression]
"""What a bound expression is over the columns of the view."""


def bind_top(scope: Scope, ranking: Ranking, over: Over) -> Top:
    """The first rows that are asked for; names of the SELECT list are the scope's `aliases`."""
    orders: dict[Expression, Order] = {}
    for item in ranking.order:
        by = over(item.this, _by(scope, ranking, item.this))
        # What comes again later decides nothing any more.
        nulls_first = bool(item.args.get("nulls_first"))
        orders.setdefault(by, Order(by, bool(item.args.get("desc")), nulls_first))
    parts = dict.fromkeys(over(node, _part(scope, node)) for node in ranking.parts)
    return Top(ranking.count, tuple(orders.values()), tuple(parts))


def refuse_number(scope: Scope, node: exp.Expr, expression: Expression) -> None:
    """Nothing, if an expression does not read the number that a row has in the end."""
    if NUMBER in columns_of(expression):
        hint = "ask for it in QUALIFY: QUALIFY place <= 10"
        raise scope.text.error(node_span(node), "the number of a row is not known here", hint)


def _by(scope: Scope, ranking: Ranking, node: exp.Expr) -> Expression:
    named = None
    if ranking.is_limit and isinstance(node, exp.Column) and not node.table:
        named = scope.aliases.get(node.name.lower())
    by = bind(scope, node if named is None else named)
    with scope.text.forgiving():
        refuse_number(scope, node, by)
        if not columns_of(by):
            hint = "write a column, an expression, or a name of the SELECT list"
            raise scope.text.error(node_span(node), "this order is always the same", hint)
        if by.type.is_nested:
            raise scope.text.error(node_span(node), f"{by.type} has no order", INSIDE)
    return by


def _part(scope: Scope, node: exp.Expr) -> Expression:
    part = bind(scope, node)
    with scope.text.forgiving():
        refuse_number(scope, node, part)
        if not columns_of(part):
            hint = "write a column or an expression, or leave out PARTITION BY"
            raise scope.text.error(node_span(node), "this part is always the same", hint)
        if part.type.is_nested:
            raise scope.text.error(node_span(node), f"{part.type} makes no parts", INSIDE)
    return part
