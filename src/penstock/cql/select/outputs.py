"""The SELECT list: what each result holds, and by which name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.scope import Scope
from penstock.cql.select.binding import UNKNOWN, bind
from penstock.query.expression import Column, Expression
from penstock.query.types import DataType
from penstock.query.view import Output


@dataclass(frozen=True)
class _Item:
    """An output to be. `name` is None where the query gives none; `starred` came from a `*`."""

    node: exp.Expr
    expression: Expression
    name: str | None
    starred: bool = False


def bind_outputs(scope: Scope, nodes: Sequence[exp.Expr]) -> tuple[Output, ...]:
    """The outputs of a SELECT, each with a name of its own."""
    items = [item for node in nodes for item in _items(scope, node)]
    shared = Counter(item.name.lower() for item in items if item.starred and item.name)
    outputs: dict[str, Output] = {}
    for position, item in enumerate(items, 1):
        name = _name(item, position, shared)
        if name.lower() in outputs:
            message = f"two columns of the result are named {name}"
            place = node_span(item.node)
            scope.text.note(scope.text.error(place, message, _other_name(scope, item)))
            name = f"{name}_{position}"
        outputs[name.lower()] = Output(name, item.expression)
    return tuple(outputs.values())


def _items(scope: Scope, node: exp.Expr) -> list[_Item]:
    star = node.this if isinstance(node, exp.Column) else node
    if isinstance(star, exp.Star):
        if any(star.args.values()):
            raise scope.text.error(node_span(star), "a * cannot be changed", "list the columns")
        columns = [scope.held(column, node_span(node)) for column in scope.star(node)]
        return [_Item(node, column, column.name, True) for column in columns]
    inner = node.this if isinstance(node, exp.Alias) else node
    expression = bind(scope, inner)
    if expression.type is DataType.NULL:
        hint = "give it one: CAST(NULL AS INT)"
        scope.text.note(scope.text.error(node_span(inner), "this NULL has no type", hint))
    # A column that there is not has a name all the same, for those that read the results.
    is_mistaken = expression is UNKNOWN and isinstance(inner, exp.Column)
    own = inner.name if is_mistaken else _own_name(expression)
    return [_Item(inner, expression, node.alias or own)]


def _other_name(scope: Scope, item: _Item) -> str:
    if item.starred:
        return "list the columns"
    if isinstance(item.node, exp.Column):
        return f"name it: {scope.text.at(node_span(item.node))} AS other_name"
    return "give it another name with AS"


def _own_name(expression: Expression) -> str | None:
    """The name of a column; an aggregate, which is a column without a stream, has none."""
    if not isinstance(expression, Column) or not expression.stream:
        return None
    kind, name = expression.path[-1] if expression.path else ("column", expression.name)
    return str(name) if kind in ("column", "member", "key") else None


def _name(item: _Item, position: int, shared: Counter[str]) -> str:
    if item.name is None:
        return f"col{position}"
    if item.starred and shared[item.name.lower()] > 1 and isinstance(item.expression, Column):
        return f"{item.expression.stream}_{item.name}"
    return item.name
