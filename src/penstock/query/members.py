"""Parts of columns as columns: what a query reads inside of others, its sources have too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from penstock.query.expression import Column, Expression, columns_of
from penstock.query.query import Query
from penstock.query.source import Field, Source, Step
from penstock.query.types import DataType, nested

Path = tuple[Step, ...]


def with_members(query: Query) -> Query:
    """The query over sources that have what it reads inside of columns: `meta`, and `meta.city`."""
    inside = {column for e in _expressions(query) for column in columns_of(e) if column.path}
    if not inside:
        return query
    owners = {item.alias: item.source.name for item in query.inputs}
    inputs = tuple(
        replace(i, source=_extended(i.source, [c for c in inside if owners[c.stream] == name]))
        for i in query.inputs
        for name in [i.source.name]
    )
    return replace(query, inputs=inputs)


def whole_columns(source: Source, fields: Iterable[Field]) -> tuple[Field, ...]:
    """The declared columns that hold the given ones, with no more inside than is needed."""
    ways: dict[str, list[Path]] = {}
    for field in fields:
        name = str(field.path[0][1]) if field.path else field.name
        ways.setdefault(name, []).append(field.path[1:])
    return tuple(
        replace(field, type=_pruned(field.type, ways[field.name]))
        for field in source.fields
        if field.name in ways and not field.path
    )


def _expressions(query: Query) -> Iterator[Expression]:
    yield from (output.expression for output in query.outputs)
    yield from (side for e in query.equalities for side in (e.left, e.right))
    own = () if query.outer is None else (*query.outer.partner_conditions, *query.outer.after)
    yield from (each.expression for each in (*query.filters, *query.thetas, *own))


def _extended(source: Source, columns: Iterable[Column]) -> Source:
    fields = {column.name: Field(column.name, column.type, column.path) for column in columns}
    return replace(source, fields=(*source.fields, *(fields[name] for name in sorted(fields))))


def _pruned(type_: DataType, ways: list[Path]) -> DataType:
    """The type with only what the ways lead to."""
    if not type_.is_nested or () in ways:
        return type_
    if type_.kind != "STRUCT":
        *others, (name, inner) = type_.parts
        return nested(type_.kind, (*others, (name, _pruned(inner, [way[1:] for way in ways]))))
    kept = ((n, t, [way[1:] for way in ways if way[0][1] == n]) for n, t in type_.parts)
    return nested("STRUCT", ((n, _pruned(t, inner)) for n, t, inner in kept if inner))
