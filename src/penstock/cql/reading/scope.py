"""Names: which input and column a name in the query stands for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.nearest import listed, nearest
from penstock.cql.reading.text import Text
from penstock.query.expression import Column
from penstock.query.function import Function
from penstock.query.query import Input
from penstock.query.source import CAST_IT


@dataclass(frozen=True)
class Scope:
    """The inputs and the user's functions that names are looked up in, whatever their case.

    `aliases` are names of the SELECT list that may stand for what they name, in lower case, and
    `aggregates` the columns that aggregates have become, by the id of the node.
    """

    text: Text
    inputs: tuple[Input, ...]
    functions: Mapping[str, Function]
    aliases: Mapping[str, exp.Expr] = field(default_factory=dict)
    aggregates: Mapping[int, Column] = field(default_factory=dict)

    def column(self, node: exp.Column) -> Column:
        """The column that `name` or `alias.name` stands for."""
        if node.args.get("db"):
            hint = "write it alias.column"
            raise self.text.error(node_span(node), "this name has too many parts", hint)
        inputs = (self.input(node.args["table"]),) if node.table else self.inputs
        found = [column for column in _columns(inputs) if column.name.lower() == node.name.lower()]
        if len(found) > 1:
            choices = " or ".join(f"{column.stream}.{column.name}" for column in found)
            message = f"{node.name} is a column of several inputs"
            raise self.text.error(node_span(node), message, f"write {choices}")
        if not found:
            raise self._unknown(node, inputs)
        return found[0]

    def aliased(self, node: exp.Column) -> exp.Expr | None:
        """The expression of a name in the SELECT list; a column of an input goes before."""
        name = node.name.lower()
        if node.table or any(column.name.lower() == name for column in _columns(self.inputs)):
            return None
        return self.aliases.get(name)

    def input(self, name: exp.Identifier) -> Input:
        """The input of that alias."""
        for item in self.inputs:
            if item.alias.lower() == name.name.lower():
                return item
        aliases = [item.alias for item in self.inputs]
        hint = nearest(name.name, aliases, listed("inputs", aliases))
        raise self.text.error(node_span(name), f"FROM has no {name.name}", hint)

    def star(self, node: exp.Expr) -> tuple[Column, ...]:
        """The columns that `*` or `alias.*` stands for."""
        table = node.args.get("table")
        inputs = (self.input(table),) if table else self.inputs
        for source in (item.source for item in inputs):
            for name, _ in source.unheld:
                fault = source.unheld_fault(name) or ""
                raise self.text.error(node_span(node), fault, CAST_IT)
        return tuple(_columns(inputs))

    def _unknown(self, node: exp.Column, inputs: tuple[Input, ...]) -> Exception:
        for item in inputs:
            fault = item.source.unheld_fault(node.name)
            if fault is not None:
                return self.text.error(node_span(node.this), fault, CAST_IT)
        names = list(dict.fromkeys(column.name for column in _columns(inputs)))
        owner = inputs[0].alias if len(inputs) == 1 else "none of the inputs"
        verb = f"{owner} has no column" if len(inputs) == 1 else f"{owner} has a column"
        hint = nearest(node.name, names, listed("columns", names))
        if self.text.at(node_span(node.this)).startswith('"') and not node.table:
            hint = f"text stands in single quotes: '{node.name}'"
        return self.text.error(node_span(node.this), f"{verb} {node.name}", hint)


def _columns(inputs: tuple[Input, ...]) -> Iterator[Column]:
    for item in inputs:
        for declared in item.source.fields:
            yield Column(item.alias, declared.name, declared.type)
