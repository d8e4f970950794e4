"""Names: which input and column a name in the query stands for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.members import member, odd_maps
from penstock.cql.reading.nearest import listed, nearest
from penstock.cql.reading.text import Span, Text
from penstock.errors import FollowingError
from penstock.query.expression import Column, Literal
from penstock.query.function import Function
from penstock.query.query import Input
from penstock.query.source import CAST_IT, MADE_FORMATS, Source
from penstock.query.types import DataType
from penstock.query.view import CHANGE, TIME
from penstock.slips import meant

# Formats whose columns have nothing inside.
_FLAT = ("csv", "rate", *MADE_FORMATS)


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
    aggregates: Mapping[int, Column | Literal] = field(default_factory=dict)
    scalars: tuple[str, ...] = ()
    """Inputs that are views inside of expressions, which nobody calls by their names."""

    def column(self, node: exp.Column) -> Column:
        """The column that `name` or `alias.name` stands for, or what is inside of one."""
        first, *rest = node.parts
        is_alias = any(item.alias.lower() == first.name.lower() for item in self.inputs)
        is_known = is_alias or self._has_nested(first.name)
        if rest and not is_known:
            self._refuse_following(node, self._called())
        if len(rest) > 1 and not is_known:
            raise self._too_long(node)
        if rest and (is_alias or not is_known):
            column = self._named(rest[0], (self.input(first),))
            rest = rest[1:]
        else:
            column = self._named(first, self._called())
        if rest and not column.type.is_nested:
            raise self._too_long(node)
        for part in rest:
            column = member(self.text, column, part.name, node_span(part))
        return self.held(column, node_span(node))

    def held(self, column: Column, span: Span) -> Column:
        """The column, if it is of a type that can be held."""
        if column.type is DataType.NULL:
            message = f"the type of {column.name} is not known"
            raise FollowingError(message, place=self.text.place(span))
        if not column.type.is_held:
            message = f"{column.stream}.{column.name} is of type {column.type}, which is not read"
            hint = "leave it out of the query, or write it as STRING where it comes from"
            raise self.text.error(span, message, hint)
        source = next(item.source for item in self.inputs if item.alias == column.stream)
        if column.type.is_nested and source.format in _FLAT:
            message = f"format {source.format} has no {column.type.kind}, as {column.name} is"
            raise self.text.error(span, message, "declare it STRING, or use json or parquet")
        odd = next(odd_maps(column.type), None) if source.is_json else None
        if odd is not None:
            message = f"a MAP in JSON has keys of type STRING, and this is a {odd}"
            raise self.text.error(span, message, "declare its keys STRING: they are texts there")
        return column

    def _named(self, name: exp.Expr, inputs: tuple[Input, ...]) -> Column:
        wanted = name.name.lower()
        found = [column for column in _columns(inputs) if column.name.lower() == wanted]
        if len(found) > 1:
            choices = " or ".join(f"{column.stream}.{column.name}" for column in found)
            message = f"{name.name} is a column of several inputs"
            raise self.text.error(node_span(name), message, f"write {choices}")
        if not found:
            raise self._unknown(name, inputs)
        return found[0]

    def _called(self) -> tuple[Input, ...]:
        """The inputs that stand in FROM."""
        return tuple(item for item in self.inputs if item.alias not in self.scalars)

    def _too_long(self, node: exp.Expr) -> Exception:
        message = "this name has too many parts"
        return self.text.error(node_span(node), message, "write it alias.column")

    def _has_nested(self, name: str) -> bool:
        columns = (column for column in _columns(self.inputs) if column.type.is_nested)
        return any(column.name.lower() == name.lower() for column in columns)

    def aliased(self, node: exp.Column) -> exp.Expr | None:
        """The expression of a name in the SELECT list; a column of an input goes before."""
        name = node.name.lower()
        if node.table or any(column.name.lower() == name for column in _columns(self._called())):
            return None
        return self.aliases.get(name)

    def _refuse_following(self, node: exp.Expr, inputs: tuple[Input, ...]) -> None:
        """Nothing, if the columns of all these inputs are known; else a name may be one of them."""
        unknown = next((item for item in inputs if not item.source.fields), None)
        if unknown is not None:
            message = f"the columns of {unknown.alias} are not known"
            raise FollowingError(message, place=self.text.place(node_span(node)))

    def input(self, name: exp.Expr) -> Input:
        """The input of that alias."""
        for item in self.inputs:
            if item.alias.lower() == name.name.lower():
                return item
        aliases = [item.alias for item in self._called()]
        hint = nearest(name.name, aliases, listed("inputs", aliases))
        raise self.text.error(node_span(name), f"FROM has no {name.name}", hint)

    def star(self, node: exp.Expr) -> tuple[Column, ...]:
        """The columns that `*` or `alias.*` stands for."""
        table = node.args.get("table")
        inputs = (self.input(table),) if table else self._called()
        self._refuse_following(node, inputs)
        for source in (item.source for item in inputs):
            for name, _ in source.unheld:
                fault = source.unheld_fault(name) or ""
                raise self.text.error(node_span(node), fault, CAST_IT)
        return tuple(column for column in _columns(inputs) if not self._is_own(column))

    def _is_own(self, column: Column) -> bool:
        """Whether a column is the time or the kind of a result, which a * does not give."""
        source = next(item.source for item in self.inputs if item.alias == column.stream)
        return source.format == "derived" and column.name in (TIME, CHANGE)

    def _unknown(self, node: exp.Expr, inputs: tuple[Input, ...]) -> Exception:
        self._refuse_following(node, inputs)
        for item in inputs:
            fault = item.source.unheld_fault(node.name)
            if fault is not None:
                return self.text.error(node_span(node), fault, CAST_IT)
        names = list(dict.fromkeys(column.name for column in _columns(inputs)))
        owner = inputs[0].alias if len(inputs) == 1 else "none of the inputs"
        verb = f"{owner} has no column" if len(inputs) == 1 else f"{owner} has a column"
        hint = nearest(node.name, names, listed("columns", names))
        if self.text.at(node_span(node)).startswith('"') and inputs == self._called():
            hint = f"text stands in single quotes: '{node.name}'"
        if self._is_distinct(node):
            hint = "did you mean DISTINCT?"
        return self.text.error(node_span(node), f"{verb} {node.name}", hint)

    def _is_distinct(self, node: exp.Expr) -> bool:
        """Whether a name seems to be DISTINCT, misspelt, with a name behind it."""
        start, _ = node_span(node)
        is_first = self.text.content[:start].rstrip().upper().endswith("SELECT")
        return is_first and meant(node.name, ["DISTINCT"]) is not None


def unknown_source(name: str) -> Source:
    """In the place of a stream or table that is not understood, where all mistakes are looked for.

    It has no columns, which no other has: whatever is said of them is not looked at.
    """
    return Source(name, (), "derived")


def _columns(inputs: tuple[Input, ...]) -> Iterator[Column]:
    for item in inputs:
        for declared in item.source.fields:
            yield Column(item.alias, declared.name, declared.type)
