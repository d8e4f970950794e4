"""What is inside of a column: `b.meta.city`, `b.tags[1]`, `b.props['size']`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from penstock.cql.reading.nearest import listed, nearest
from penstock.cql.reading.text import Span, Text
from penstock.query.expression import Column
from penstock.query.families.nested_types import quoted
from penstock.query.source import Step
from penstock.query.types import DataType

INSIDE = "read what is inside of it: b.meta.city, b.tags[1], b.props['size']"


def member(text: Text, column: Column, name: str, span: Span) -> Column:
    """The member of a STRUCT."""
    if column.type.kind != "STRUCT":
        message = f"{_written(column)} is {_a(column.type)}, which has no {name}"
        is_map = column.type.kind == "MAP"
        instead = f"write {_written(column)}['{name}']" if is_map else _hint(column)
        raise text.error(span, message, instead)
    for own, type_ in column.type.parts:
        if own.lower() == name.lower():
            return _inside(column, ("member", own), f"{column.name}.{quoted(own)}", type_)
    names = [own for own, _ in column.type.parts]
    hint = nearest(name, names, listed("members", names))
    raise text.error(span, f"{_written(column)} has no member {name}", hint)


def item(text: Text, column: Column, index: str | int, span: Span) -> Column:
    """An item of an ARRAY, counted from 0, or the value of a key of a MAP."""
    parts = dict(column.type.parts)
    if column.type.kind == "ARRAY" and isinstance(index, int):
        return _inside(column, ("item", index), f"{column.name}[{index}]", parts["element"])
    if column.type.kind == "MAP":
        key = parts["key"]
        if (key is DataType.STRING) == isinstance(index, str) and (
            isinstance(index, str) or key.is_integer
        ):
            name = f"'{index}'" if isinstance(index, str) else str(index)
            return _inside(column, ("key", index), f"{column.name}[{name}]", parts["value"])
        raise text.error(span, f"the keys of {_written(column)} are {key}", _hint(column))
    raise text.error(span, f"{_written(column)} is {_a(column.type)}", _hint(column))


def tolerant(column: Column) -> Column:
    """The same item of an ARRAY, NULL where there is none: GET(b.tags, 1)."""
    *way, (_, index) = column.path
    base = column.name.removesuffix(f"[{index}]")
    return replace(column, name=f"{base}.get({index})", path=(*way, ("get", index)))


def odd_maps(type_: DataType) -> Iterator[DataType]:
    """The MAPs in a type whose keys are no texts."""
    if type_.kind == "MAP" and dict(type_.parts)["key"] is not DataType.STRING:
        yield type_
    for _, inner in type_.parts:
        yield from odd_maps(inner)


def _inside(column: Column, step: Step, name: str, type_: DataType) -> Column:
    way = column.path or (("column", column.name),)
    return Column(column.stream, name, type_, (*way, step))


def _written(column: Column) -> str:
    return f"{column.stream}.{column.name}"


def _a(type_: DataType) -> str:
    return f"{'an' if type_[0] in 'AI' else 'a'} {type_}"


def _hint(column: Column) -> str:
    match column.type.kind:
        case "ARRAY":
            return f"write {_written(column)}[0] for its first item"
        case "MAP":
            return f"write {_written(column)}['key']"
        case "STRUCT":
            return f"write {_written(column)}.{column.type.parts[0][0]}"
    return f"write {_written(column)}, which has nothing inside"
