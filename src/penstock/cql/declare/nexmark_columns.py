"""Nexmark's streams: columns that need not be listed, and the part of the rate that is theirs."""

from __future__ import annotations

from dataclasses import replace

from penstock.cql.reading.nearest import listed, nearest
from penstock.errors import SqlError
from penstock.query.made.nexmark import EVENT_RATE, STREAMS, TIMESTAMP, kind_of
from penstock.query.source import Field, Source


def with_nexmark(source: Source) -> Source:
    """A stream of Nexmark with its columns, event time and own rate; any other as it is."""
    if source.format != "nexmark":
        return source
    kind = kind_of(source)
    if kind is None:
        message = f"{source.option('stream') or source.name} is none of Nexmark's streams"
        hint = "write stream = 'person', 'auction' or 'bid'"
        key = "stream" if source.option("stream") else "name"
        raise SqlError(message, place=source.places[key], hint=hint)
    known, rate = STREAMS[kind], source.rate
    fields = tuple(_known(source, field, known.fields) for field in source.fields) or known.fields
    _check_time(source, fields)
    return replace(
        source,
        fields=fields,
        timestamp=TIMESTAMP,
        rate=None if rate is None else rate * known.share,
        options=(*source.options, *(() if rate is None else ((EVENT_RATE, rate),))),
    )


def _check_time(source: Source, fields: tuple[Field, ...]) -> None:
    """Nothing, if the event time is the time of the event, and among the columns."""
    if (source.timestamp or TIMESTAMP).lower() != TIMESTAMP.lower():
        message = f"the event time of Nexmark's streams is {TIMESTAMP}"
        raise SqlError(message, place=source.places["timestamp"], hint="leave timestamp out")
    if not any(field.name.lower() == TIMESTAMP.lower() for field in fields):
        message = f"stream {source.name} has no {TIMESTAMP}, its event time"
        hint = f"add {TIMESTAMP} TIMESTAMP to its columns, or leave the list of columns out"
        raise SqlError(message, place=source.places["name"], hint=hint)


def _known(source: Source, field: Field, known: tuple[Field, ...]) -> Field:
    """The column of the stream that was declared so."""
    place, names = source.places["name"], [each.name for each in known]
    found = next((each for each in known if each.name.lower() == field.name.lower()), None)
    if found is None:
        message = f"Nexmark's {kind_of(source)} has no column {field.name}"
        hint = nearest(field.name, names, listed("columns", names))
        raise SqlError(message, place=place, hint=hint)
    if found.type is not field.type:
        message = f"column {field.name} of Nexmark's {kind_of(source)} is not a {field.type}"
        raise SqlError(message, place=place, hint=f"declare it {found.name} {found.type}")
    return field
