"""The Avro schema of a topic in the checkpoint: of the first run, whatever becomes of its file."""

from __future__ import annotations

from penstock.engine.sources.kafka.avro_values import canonical, reader_schema
from penstock.engine.sources.slices import Slice
from penstock.engine.state.store import Store
from penstock.errors import SourceError
from penstock.query.source import SCHEMA_TEXT, Source


def kept_schema(source: Source, store: Store, folder: str) -> str | None:
    """The schema that records of a source are read by, kept from now on; None if they need none."""
    if source.option("value") != "avro":
        return None
    name, found = f"{folder}/schema.avsc", source.option(SCHEMA_TEXT)
    kept = bytes(store.read(name)).decode() if store.exists(name) else None
    schema = kept or found
    if schema is None:
        raise _missing(source)
    try:
        reader_schema(str(schema))
    except ValueError as error:
        raise _wrong(source, f"it is no Avro schema: {error}", "mend the schema") from None
    if kept is None:
        store.publish(name, str(schema).encode())
    elif found is not None and canonical(kept) != canonical(str(found)):
        hint = "put it back, or start with another checkpoint"
        raise _wrong(source, "it is not the one that this checkpoint began with", hint)
    return str(schema)


def slice_schema(source: Source, piece: Slice) -> str | None:
    """The schema of a slice's records; None if they need none."""
    if source.option("value") != "avro":
        return None
    schema = piece.schema or source.option(SCHEMA_TEXT)
    if schema is None:
        raise _missing(source)
    return str(schema)


def _missing(source: Source) -> SourceError:
    path = source.option("schema")
    return _wrong(source, f"there is no file {path}", "give the path of an Avro schema")


def _wrong(source: Source, what: str, hint: str) -> SourceError:
    message = f"stream {source.name} cannot be read by its schema: {what}"
    return SourceError(message, place=source.places.get("schema"), hint=hint)
