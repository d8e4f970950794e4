"""Avro schemas of streams, from their files: read once, and checked against the columns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from penstock.cql.reading.nearest import listed, nearest
from penstock.errors import SqlError
from penstock.query.families.spelling import AmbiguousNameError, spelled
from penstock.query.foreign.avro import held_in, is_held_in, kinds_in
from penstock.query.source import SCHEMA_TEXT, Field, Source


def with_schema(source: Source) -> Source:
    """The stream with the text of its schema, if it has one.

    A file that is not there may be in the checkpoint of an earlier run, so a run decides about it.
    """
    if source.option("schema") is None:
        return source
    try:
        text = Path(str(source.option("schema"))).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return source
    except OSError as error:
        raise _at(source, f"cannot be read: {error.strerror}", "give the path of a file") from None
    except UnicodeDecodeError:
        raise _at(source, "is not UTF-8", "a schema is JSON, in UTF-8") from None
    check_schema(source, text)
    return replace(source, options=(*source.options, (SCHEMA_TEXT, text)))


def check_schema(source: Source, text: str) -> None:
    """Nothing, if the fields of a schema can be read as the columns that the stream declares."""
    try:
        kinds = kinds_in(text)
    except ValueError as error:
        raise _at(source, f"is no schema: {error}", "an Avro schema of a record is JSON") from None
    for field in source.value_fields:
        _check_field(source, field, kinds)


def _check_field(source: Source, field: Field, kinds: dict[str, str]) -> None:
    try:
        own = spelled(field.name, kinds)
    except AmbiguousNameError as error:
        alike = f"has fields that are alike: {error}"
        raise _at(source, alike, "declare the column as one of them is spelled") from None
    if own is None:
        hint = nearest(field.name, kinds, listed("fields", list(kinds)) if kinds else None)
        raise _at(source, f"has no field {field.name}, which {source.name} declares", hint)
    kind = kinds[own]
    types = sorted(held_in(kind))
    if not types:
        hint = f"leave the column out: no type of ours holds {kind}"
        raise _at(source, f"has {field.name} as {kind}, which cannot be read", hint)
    if not is_held_in(kind, field.type):
        hint = f"declare it {field.name} {' or '.join(types)}"
        raise _at(source, f"has {field.name} as {kind}, which is not a {field.type}", hint)


def _at(source: Source, message: str, hint: str | None) -> SqlError:
    path = source.option("schema")
    return SqlError(f"{path} {message}", place=source.places["schema"], hint=hint)
