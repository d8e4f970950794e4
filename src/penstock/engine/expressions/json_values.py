"""Values of JSON as values of a type, one at a time: the slow way, with every misfit found."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pyarrow as pa

from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.expressions.cast import cast
from penstock.engine.expressions.decimal_cast import has_room
from penstock.engine.expressions.timestamps import timestamps_of
from penstock.query import DataType
from penstock.query.families.spelling import spelled


class MisfitError(ValueError):
    """A value that is not of the type."""


def is_simple(type_: DataType) -> bool:
    """Whether Arrow reads it from JSON as we do."""
    if type_.is_nested:
        return type_.kind != "MAP" and all(is_simple(inner) for _, inner in type_.parts)
    if type_.is_decimal:
        return has_room(type_.digits)
    return not type_.is_temporal and type_ is not DataType.BINARY


def json_value(value: Any, type_: DataType, zone: str | None = None) -> Any:
    """The value as the type has it; a `MisfitError` if it has none. Null is NULL of any type."""
    if value is None:
        return None
    if type_.is_nested:
        return _nested(value, type_, zone)
    if type_.is_decimal and not isinstance(value, bool):
        return _decimal(value, type_)
    plain = float(value) if isinstance(value, Decimal) else value
    if not _fits(plain, type_):
        raise MisfitError
    # Arrow makes no doubles of whole numbers that these round.
    return float(plain) if type_.is_floating else plain


def member_of(members: Mapping[str, Any], name: str) -> Any:
    """The member of an object by its name, in any case; None if there is none."""
    own = spelled(name, members.keys())
    return None if own is None else members[own]


def json_text(text: str, type_: DataType, zone: str | None) -> Any:
    """A time or bytes from a text, inside of another column."""
    array = pa.array([text], pa.large_string())
    if type_ is DataType.BINARY:
        try:
            return b64decode(text, validate=True)
        except ValueError:
            raise MisfitError from None
    is_zoned = type_ is DataType.TIMESTAMP
    values = timestamps_of(array, zone) if is_zoned else cast(array, DataType.STRING, type_)
    if values.null_count:
        raise MisfitError
    return values[0].as_py()


def _nested(value: Any, type_: DataType, zone: str | None) -> Any:
    def inner(each: Any, of: DataType) -> Any:
        found = json_value(each, of, zone)
        is_text = of.is_temporal or of is DataType.BINARY
        return json_text(found, of, zone) if is_text and found is not None else found

    parts = dict(type_.parts)
    match type_.kind, value:
        case "STRUCT", dict():
            return {name: inner(member_of(value, name), of) for name, of in parts.items()}
        case "ARRAY", list():
            return [inner(each, parts["element"]) for each in value]
        case "MAP", dict() if parts["key"] is DataType.STRING:
            if any(map(_has_half_a_pair, value)):
                raise MisfitError
            return [(key, inner(each, parts["value"])) for key, each in value.items()]
    raise MisfitError


def _decimal(value: Any, type_: DataType) -> Any:
    is_number = isinstance(value, int | Decimal)
    is_text = isinstance(value, str) and not _has_half_a_pair(value)
    text = str(value) if is_number or is_text else ""
    found = cast(pa.array([text], pa.large_string()), DataType.STRING, type_)
    if found.null_count:
        raise MisfitError
    return found[0].as_py()


def _fits(value: Any, type_: DataType) -> bool:
    match value:
        case bool():
            return type_ is DataType.BOOLEAN
        case int() if type_.is_integer:
            bound: int = 1 << (arrow_type(type_).bit_width - 1)
            return -bound <= value < bound
        case int():
            return type_.is_numeric and abs(value) < 1 << 1023
        case float():
            return type_.is_floating
        case str():
            is_text = type_.is_temporal or type_ in (DataType.STRING, DataType.BINARY)
            return is_text and not _has_half_a_pair(value)
    return False


def _has_half_a_pair(text: str) -> bool:
    """Whether a text has half a surrogate pair, which JSON can escape, but is no character."""
    return any("\ud800" <= letter <= "\udfff" for letter in text)
