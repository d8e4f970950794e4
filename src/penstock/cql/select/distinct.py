"""SELECT DISTINCT: a view that is grouped by all its outputs."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.members import INSIDE
from penstock.cql.reading.scope import Scope
from penstock.cql.select.aggregates import find_aggregates
from penstock.cql.select.every import Every, period
from penstock.cql.select.outputs import bind_outputs
from penstock.query.expression import Column, Expression, columns_of
from penstock.query.query import Input
from penstock.query.view import CHANGE, TIME, Output, View

_ONCE = "leave DISTINCT out: a view has each of its groups once"


def bind_distinct(
    scope: Scope, tree: exp.Expr, every: Every | None, inputs: tuple[Input, ...]
) -> tuple[tuple[Output, ...], View]:
    """The outputs of the join, each once, and the view whose groups they are.

    The windows of all `inputs` say when it is evaluated, also of those that show no columns.
    """
    _check_clauses(scope, tree)
    outputs = view_outputs(scope, tree.expressions)
    groups: dict[Expression, Column] = {}
    for output in outputs:
        if columns_of(output.expression) and output.expression not in groups:
            with scope.text.forgiving():
                check_group(scope, tree, output.expression)
            name = f"#g{len(groups)}"
            groups[output.expression] = Column("", name, output.expression.type)
    if not groups:
        message = "this SELECT DISTINCT is always the same"
        raise scope.text.error(node_span(tree.expressions[0]), message, "select a column")
    view = View(
        groups=tuple(groups.values()),
        aggregates=(),
        outputs=tuple(Output(o.name, groups.get(o.expression, o.expression)) for o in outputs),
        every=period(scope.text, inputs, every, node_span(tree.args["from_"])),
    )
    return tuple(Output(column.name, of) for of, column in groups.items()), view


def view_outputs(scope: Scope, nodes: Sequence[exp.Expr]) -> tuple[Output, ...]:
    """What a view shows, under names that its results do not have themselves."""
    outputs = bind_outputs(scope, nodes)
    for place, output in enumerate(outputs):
        if output.name.lower() in (TIME, CHANGE):
            message = f"the result of a view has a column {output.name.lower()} of its own"
            node = nodes[min(place, len(nodes) - 1)]
            hint = "give this one another name with AS"
            scope.text.note(scope.text.error(node_span(node), message, hint))
    return outputs


def check_group(scope: Scope, node: exp.Expr, group: Expression) -> None:
    """Nothing, if values of that type make groups."""
    if group.type.is_nested:
        raise scope.text.error(node_span(node), f"{group.type} makes no groups", INSIDE)


def _check_clauses(scope: Scope, tree: exp.Expr) -> None:
    chosen = tree.args["distinct"].args.get("on")
    if chosen is not None:
        hint = "group by these, and choose by MAX_BY(x, y) or LAST(x)"
        message = "DISTINCT ON is not in the language"
        scope.text.note(scope.text.error(node_span(chosen), message, hint))
    clauses = [tree.args[name] for name in ("group", "having") if tree.args.get(name)]
    for node in (*clauses, *find_aggregates(tree.expressions)):
        message = "SELECT DISTINCT takes no groups and no aggregates"
        raise scope.text.error(node_span(node), message, _ONCE)
