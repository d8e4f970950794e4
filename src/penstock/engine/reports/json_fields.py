"""Dataclasses as JSON that any reader takes, and back, whatever version wrote it."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from numbers import Integral, Real
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

Data = TypeVar("Data")


def as_json(value: object) -> Any:
    """What `json.dumps` takes: dataclasses become objects by their fields' names.

    JSON has no NaN and no infinities: they become null.
    """
    plain = _PLAIN.get(type(value))
    if plain is not None:
        return plain(value)
    match value:
        case str() | bool() | None:
            return value
        case Integral():
            return int(value)
        case Real():
            return float(value) if math.isfinite(value) else None
        case Mapping():
            return {str(key): as_json(each) for key, each in value.items()}
        case list() | tuple():
            return [as_json(each) for each in value]
    assert is_dataclass(value), f"{type(value).__name__} has no form in JSON"
    return {name: as_json(getattr(value, name)) for name in _names(cast(Hashable, type(value)))}


@cache
def _names(kind: Hashable) -> tuple[str, ...]:
    assert isinstance(kind, type), "a dataclass is a type"
    return tuple(field.name for field in fields(kind))


def _itself(value: Any) -> Any:
    return value


# Nearly all values of a report are of these very types, and patterns over numbers are slow.
_PLAIN: Mapping[type, Callable[[Any], Any]] = {
    str: _itself,
    bool: _itself,
    type(None): _itself,
    int: _itself,
    float: lambda value: value if math.isfinite(value) else None,
}


def from_json(kind: type[Data], data: Mapping[str, Any]) -> Data:
    """The dataclass of an object: fields that are not known are ignored, missing ones take their
    defaults; a ValueError where there is none, or where a value is of another kind."""
    declared, found = _fields(cast(Hashable, kind)), _checked(Mapping, data)
    given = {name: _value(field, found.get(name)) for name, field in declared.items()}
    return kind(**{name: each for name, each in given.items() if each is not MISSING})


@cache
def _fields(kind: Hashable) -> Mapping[str, tuple[Any, Field[Any]]]:
    assert isinstance(kind, type), "a dataclass is a type"
    hints = get_type_hints(kind)
    return {field.name: (hints[field.name], field) for field in fields(kind)}


def _value(declared: tuple[Any, Field[Any]], found: Any) -> Any:
    """The value of a field; MISSING where its default is to be taken."""
    hint, field = declared
    if found is not None:
        return _read(hint, found)
    if field.default is not MISSING or field.default_factory is not MISSING:
        return None if field.default is None else MISSING
    if _may_be_none(hint):
        return None
    if hint is float:  # It was no number that JSON has.
        return math.nan
    raise ValueError(f"{field.name} is missing")


def _read(hint: Any, found: Any) -> Any:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is None:
        return _plain(hint, found)
    if origin is tuple:
        return tuple(_read(inner[0], each) for each in _checked(list, found))
    if origin is Mapping:
        return {key: _inside(inner[1], each) for key, each in _checked(dict, found).items()}
    if origin is Literal:
        return _checked(str, found)  # A later version may know other words.
    return (
        None
        if found is None
        else _read(next(each for each in inner if each is not type(None)), found)
    )


def _inside(hint: Any, found: Any) -> Any:
    """A value of a table, where null is what was no number."""
    return math.nan if found is None and hint is float else _read(hint, found)


def _plain(hint: Any, found: Any) -> Any:
    if hint is object:
        return found
    if is_dataclass(hint):
        return from_json(hint, _checked(dict, found))  # type: ignore[arg-type]
    if hint is float:
        return float(_checked((int, float), found))
    return _checked(hint, found)


def _may_be_none(hint: Any) -> bool:
    return type(None) in get_args(hint)


def _checked(kind: Any, found: Any) -> Any:
    is_flag = isinstance(found, bool) and kind is not bool
    if is_flag or not isinstance(found, kind):
        raise ValueError(f"{found!r} is not what belongs there")
    return found
