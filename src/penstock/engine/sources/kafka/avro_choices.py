"""Choices in values of Avro: the numbers by which unions and enums say what follows.

The library takes a number below zero as one from the end. Nobody may write such a number, so a
value that has one is not of its schema, and what it was read as means nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any

from penstock.engine.sources.kafka.avro_library import library

_FIXED_SIZES = {"null": 0, "boolean": 1, "float": 4, "double": 8}


def chosen_wrongly(schema: Any, value: bytes, row: Mapping[str, Any]) -> str | None:
    """What is wrong with the choices in a value that was read as a row; None if nothing is."""
    if _written(schema, row) == value:
        return None
    # There is more than one way to write a row, so one has to look.
    try:
        _Walk(schema["__named_schemas"], value).pass_over(schema)
    except IndexError as error:
        return str(error)
    return None


def has_choices(schema: Any) -> bool:
    """Whether a schema has unions or enums anywhere."""
    if isinstance(schema, dict):
        is_enum = schema.get("type") == "enum"
        return is_enum or any(map(has_choices, (schema.get("type"), *_parts(schema))))
    return isinstance(schema, list)


def _parts(schema: Mapping[str, Any]) -> list[Any]:
    """The types inside a type."""
    fields = [field["type"] for field in schema.get("fields", ())]
    return [*fields, *(schema[name] for name in ("items", "values") if name in schema)]


def _written(schema: Any, row: Mapping[str, Any]) -> bytes | None:
    """A row as the library would write it, if it can."""
    stream = BytesIO()
    try:
        library().schemaless_writer(stream, schema, row)
    except MemoryError:
        raise
    except Exception:  # The library has no error of its own for rows of others.
        return None
    return stream.getvalue()


class _Walk:
    """A walk through a value that could be read; an IndexError for a number below zero."""

    def __init__(self, named: Mapping[str, Any], value: bytes):
        self._named = named
        self._value = value
        self._place = 0

    def pass_over(self, schema: Any) -> None:
        """Go on to behind what is of a schema."""
        match schema:
            case list():
                self.pass_over(schema[self._choice()])
            case {"type": "record" | "error"}:
                for field in schema["fields"]:
                    self.pass_over(field["type"])
            case {"type": "enum"}:
                self._choice()
            case {"type": "fixed", "size": int(size)}:
                self._place += size
            case {"type": "array", "items": items}:
                self._pass_blocks(items)
            case {"type": "map", "values": values}:
                self._pass_blocks("string", values)
            case {"type": inner}:
                self.pass_over(inner)
            case str() if schema in self._named:
                self.pass_over(self._named[schema])
            case _:
                self._pass_plain(schema)

    def _pass_plain(self, kind: str) -> None:
        if kind in _FIXED_SIZES:
            self._place += _FIXED_SIZES[kind]
        else:
            number = self._number()
            self._place += number if kind in ("string", "bytes") else 0

    def _pass_blocks(self, *types: Any) -> None:
        while count := self._number():
            if count < 0:
                self._number()  # So many bytes.
            for _ in range(abs(count)):
                for each in types:
                    self.pass_over(each)

    def _choice(self) -> int:
        number = self._number()
        if number < 0:
            raise IndexError(f"there is no choice {number}")
        return number

    def _number(self) -> int:
        """A number as Avro has it: seven bits a byte, the lowest first, and the sign at the end."""
        found = shift = 0
        while True:
            byte = self._value[self._place]
            self._place += 1
            found |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return (found >> 1) ^ -(found & 1)
