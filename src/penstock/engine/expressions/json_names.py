"""Names of members in JSON: how lines of objects spell them, found without reading every row."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping

import pyarrow as pa

from penstock.query.source import Field
from penstock.query.types import DataType, nested

_NAME = re.compile(rb'"((?:[^"\\]|\\.)*+)"\s*:')
_ESCAPED_NAME = re.compile(rb'\\u[0-9a-fA-F]{4}(?:[^"\\]|\\.)*+"\s*:')


def doubtful_names(fields: Collection[Field], columns: Collection[pa.Array]) -> set[str]:
    """The names of columns, and inside of them, under which something was not found."""
    pairs = zip(fields, columns, strict=True)
    return {name for field, found in pairs if _has_nulls(found) for name in _names(field)}


def other_spellings(names: Collection[str], data: bytes) -> dict[str, set[str]]:
    """All spellings of the names that some object has in another case than the given one."""
    if all(name.isascii() for name in names) and not _ESCAPED_NAME.search(data):
        lowered = data.lower()
        found = {name: _spellings(name, data, lowered) for name in names}
    else:
        known = {text for each in set(_NAME.findall(data)) for text in _unescaped(each)}
        found = {name: {each for each in known if each.lower() == name.lower()} for name in names}
    return {name: spellings for name, spellings in found.items() if spellings - {name}}


def respelled(type_: DataType, spellings: Mapping[str, str]) -> DataType:
    """The type with its members in other spellings."""
    if not type_.is_nested:
        return type_
    is_struct = type_.kind == "STRUCT"
    return nested(
        type_.kind,
        (
            (spellings.get(name, name) if is_struct else name, respelled(inner, spellings))
            for name, inner in type_.parts
        ),
    )


def _spellings(name: str, data: bytes, lowered: bytes) -> set[str]:
    quoted = f'"{name}"'.encode()
    # Most often nothing is spelled otherwise, and that is seen by counting.
    if lowered.count(quoted.lower()) == data.count(quoted):
        return set()
    member = re.compile(rb'"(%s)"\s*:' % re.escape(name.encode()), re.IGNORECASE)
    return {found.decode() for found in set(member.findall(data))}


def _unescaped(name: bytes) -> Iterator[str]:
    try:
        yield json.loads(b'"' + name + b'"')
    except ValueError:
        return  # It was no name, but what stands between two texts.


def _has_nulls(values: pa.Array) -> bool:
    if values.null_count:
        return True
    if pa.types.is_struct(values.type):
        return any(_has_nulls(values.field(n)) for n in range(values.type.num_fields))
    return bool(pa.types.is_list(values.type)) and _has_nulls(values.values)


def _names(field: Field) -> Iterator[str]:
    yield field.name
    yield from _inner_names(field.type)


def _inner_names(type_: DataType) -> Iterator[str]:
    for name, inner in type_.parts:
        if type_.kind == "STRUCT":
            yield name
        yield from _inner_names(inner)
