"""Avro schemas of records: which fields they have, of which kind, and what columns hold these."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from penstock.query.families.decimal_types import MOST_DIGITS
from penstock.query.types import PLAIN_TYPES, DataType, decimal

_DECIMAL = re.compile(r"decimal\((\d+), (\d+)\)")
"""The kind of decimals of so many digits, so many of them after the point."""
_LOGICAL = frozenset(
    [
        "date",
        "local-timestamp-micros",
        "local-timestamp-millis",
        "timestamp-micros",
        "timestamp-millis",
    ]
)
"""Kinds that say more than the types below them; others are read as those types."""
_INTEGERS = frozenset([DataType.TINYINT, DataType.SMALLINT, DataType.INT, DataType.BIGINT])
_FLOATS = frozenset([DataType.FLOAT, DataType.DOUBLE])
_TIMES = frozenset([DataType.TIMESTAMP, DataType.BIGINT])
_HELD: Mapping[str, frozenset[DataType]] = {
    "null": frozenset(PLAIN_TYPES),
    "boolean": frozenset([DataType.BOOLEAN]),
    "int": _INTEGERS | _FLOATS,
    "long": _INTEGERS | _FLOATS,
    "float": _FLOATS,
    "double": _FLOATS,
    "string": frozenset([DataType.STRING, DataType.DATE, DataType.TIMESTAMP]),
    "enum": frozenset([DataType.STRING]),
    "bytes": frozenset([DataType.BINARY]),
    "fixed": frozenset([DataType.BINARY]),
    "date": frozenset([DataType.DATE]),
    "timestamp-millis": _TIMES,
    "timestamp-micros": _TIMES,
    "local-timestamp-millis": _TIMES,
    "local-timestamp-micros": _TIMES,
}


def kinds_in(schema: str) -> dict[str, str]:
    """The kind of each field of a record's schema, by name; a ValueError says what is wrong."""
    try:
        record = json.loads(schema)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is not JSON: {error}") from None
    if not isinstance(record, dict) or record.get("type") not in ("record", "error"):
        raise ValueError("it is not the schema of a record")
    fields = record.get("fields")
    if not isinstance(fields, list) or not all(_is_field(each) for each in fields):
        raise ValueError("its fields are not a list of names and types")
    named = dict(_named(record))
    return {each["name"]: _kind(each["type"], named) for each in fields}


def held_in(kind: str) -> frozenset[DataType]:
    """The types of columns that are made for values of a kind; none if no type holds them."""
    digits = digits_of(kind)
    if digits is None:
        return _HELD.get(kind, frozenset())
    return frozenset([decimal(*digits)] if digits[0] <= MOST_DIGITS else [])


def is_held_in(kind: str, type_: DataType) -> bool:
    """Whether a column of a type holds values of a kind, or those of them that it has room for."""
    digits = digits_of(kind)
    if digits is None or not held_in(kind):
        return type_ in held_in(kind)
    return type_.is_decimal and type_.digits[1] >= digits[1]


def digits_of(kind: str) -> tuple[int, int] | None:
    """How many digits decimals of a kind have, and how many of them are after the point."""
    found = _DECIMAL.fullmatch(kind)
    return None if found is None else (int(found[1]), int(found[2]))


def plain(schema: Any) -> Any:
    """A schema without what stands above its types: times and dates are read as numbers."""
    match schema:
        case dict():
            return {key: plain(each) for key, each in schema.items() if key != "logicalType"}
        case list():
            return [plain(each) for each in schema]
    return schema


def _is_field(each: Any) -> bool:
    return isinstance(each, dict) and isinstance(each.get("name"), str) and "type" in each


def _kind(type_: Any, named: Mapping[str, Any]) -> str:
    match type_:
        case [*choices]:
            real = [each for each in choices if each != "null"]
            return _kind(real[0], named) if len(real) == 1 else "union" if real else "null"
        case {"logicalType": str(logical)} if logical in _LOGICAL:
            return logical
        case {"type": "bytes" | "fixed"} if (kind := _decimal_kind(type_)) is not None:
            return kind
        case {"type": inner}:
            return _kind(inner, named)
        case str() if type_ in named:
            return str(named[type_])
    return str(type_)


def _decimal_kind(type_: Mapping[str, Any]) -> str | None:
    """The kind of decimals that a type has; None if it has none, or none that there may be."""
    precision, scale = type_.get("precision"), type_.get("scale", 0)
    is_sound = isinstance(precision, int) and isinstance(scale, int) and 0 <= scale <= precision
    if type_.get("logicalType") != "decimal" or not is_sound or not precision:
        return None
    return f"decimal({precision}, {scale})"


def _named(schema: Any, space: str = "") -> Iterator[tuple[str, str]]:
    """The types that a schema gives names to, with their kinds; `space` is that around it."""
    if isinstance(schema, dict):
        space = str(schema.get("namespace", space))
        kind, name = schema.get("type"), schema.get("name")
        if kind in ("enum", "fixed", "record", "error") and isinstance(name, str):
            meant = _decimal_kind(schema) or kind
            yield name, meant
            yield f"{space}.{name}", meant
    inside = schema.values() if isinstance(schema, dict) else schema
    for each in inside if isinstance(schema, dict | list) else ():
        yield from _named(each, space)
