"""The first tuples of windows and joins: a view of those that there are, each as often as it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sqlglot import exp

from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.scope import Scope
from penstock.cql.select.distinct import check_group, view_outputs
from penstock.cql.select.every import Every, period
from penstock.cql.select.ranking.bound_order import bind_top
from penstock.cql.select.ranking.ranking import Ranking, aliases_of
from penstock.query.expression import Column, Expression, columns_of
from penstock.query.query import Input
from penstock.query.ranking import NUMBER, Top
from penstock.query.view import EAGER, Aggregate, Output, View

_COPIES = Aggregate("#0", "count", None)


def bind_tuples(
    scope: Scope,
    tree: exp.Expr,
    every: Every | None,
    inputs: tuple[Input, ...],
    ranking: Ranking,
) -> tuple[tuple[Output, ...], View]:
    """The outputs of the join, each once, and the view of the first combinations of them.

    Tuples that are alike in all that is selected, parted and ordered by are one group, and counted.
    """
    micros = period(scope.text, inputs, every, node_span(tree.args["from_"]))
    if every is None and micros == EAGER:
        message = "the first tuples are a view, which is evaluated from time to time"
        hint = "say how often, at the end: EVERY 10 SECONDS; or group and aggregate"
        scope.text.note(scope.text.error(ranking.place, message, hint))
    numbered = replace(scope, aggregates={id(node): NUMBER for node in ranking.numbers})
    outputs = view_outputs(numbered, tree.expressions)
    for output in outputs:
        with scope.text.forgiving():
            check_group(scope, tree, output.expression)
    named = replace(scope, aliases=aliases_of(tree))
    top = bind_top(named, ranking, lambda _, expression: expression)
    groups = _groups([*(o.expression for o in outputs), *top.parts, *(o.by for o in top.order)])
    view = View(
        groups=tuple(groups.values()),
        aggregates=(_COPIES,),
        outputs=tuple(Output(o.name, groups.get(o.expression, o.expression)) for o in outputs),
        every=micros,
        top=Top(
            top.count,
            tuple(replace(order, by=groups.get(order.by, order.by)) for order in top.order),
            tuple(groups.get(part, part) for part in top.parts),
            copies=_COPIES.column,
        ),
    )
    return tuple(Output(column.name, of) for of, column in groups.items()), view


def _groups(expressions: Iterable[Expression]) -> dict[Expression, Column]:
    """A column for each of these that is not always the same."""
    needed = [each for each in dict.fromkeys(expressions) if each != NUMBER and columns_of(each)]
    return {each: Column("", f"#g{n}", each.type) for n, each in enumerate(needed)}
