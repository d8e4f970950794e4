"""The columns, event time and lateness of a stream or table that is a DataFrame."""

from __future__ import annotations

from dataclasses import replace

from penstock.errors import SqlError
from penstock.query.foreign.frame import FrameShape
from penstock.query.source import Source


def with_frame(source: Source, frame: FrameShape | None) -> Source:
    """The source with what its DataFrame says and its statement does not."""
    if frame is None:
        return source
    _check_kind(source, frame)
    if source.fields:
        _check_columns(source, frame)
    else:
        source = replace(source, fields=frame.fields, unheld=frame.unheld)
    return source if source.is_table else _with_watermark(source, frame)


def _check_kind(source: Source, frame: FrameShape) -> None:
    """Refuse a frame where none belongs, or one of the other kind."""
    kind = source.kind
    if source.format != "dataframe":
        message = f"a DataFrame was given for {kind} {source.name}, which has another format"
        raise _at(source, "format", message, "write format = 'dataframe', or leave the frame out")
    if source.is_table and frame.is_streaming:
        hint = f"declare CREATE STREAM {source.name}, or read it with spark.read"
        raise _at(source, "name", f"the DataFrame of table {source.name} is a stream", hint)
    if not source.is_table and not frame.is_streaming:
        hint = f"declare CREATE TABLE {source.name}, or read it with spark.readStream"
        if source.is_kept:
            hint = "leave key out, or read it with spark.readStream"
        raise _at(source, "name", f"the DataFrame of {kind} {source.name} does not stream", hint)


def _check_columns(source: Source, frame: FrameShape) -> None:
    """Refuse a listed column that the frame does not have, or has in another type."""
    for field in source.fields:
        found = frame.type_of(field.name)
        if found is None:
            listed = ", ".join(each.name for each in frame.fields)
            message = f"the DataFrame of {source.name} has no column {field.name}"
            raise _at(source, "name", message, f"it has {listed}")
        if not frame.has(field):
            where = f"column {field.name} of the DataFrame of {source.name}"
            hint = "declare it as it is, or cast it in the DataFrame"
            raise _at(source, "name", f"{where} is {found}, not {field.type}", hint)


def _with_watermark(source: Source, frame: FrameShape) -> Source:
    """The stream with the event time and lateness of the frame's watermark, if it has none."""
    marked = [field for field in source.fields if _delay(frame, field.name) is not None]
    if source.timestamp is None and len(marked) == 1:
        source = replace(source, timestamp=marked[0].name)
    delay = None if source.timestamp is None else _delay(frame, source.timestamp)
    if delay is None or "lateness" in source.places:
        return source
    return replace(source, lateness=delay)


def _delay(frame: FrameShape, name: str) -> int | None:
    delays = {column.lower(): delay for column, delay in frame.watermarks.items()}
    return delays.get(name.lower())


def _at(source: Source, key: str, message: str, hint: str) -> SqlError:
    return SqlError(message, place=source.places.get(key) or source.places["name"], hint=hint)
