"""Checks that a source can be read: it has columns, a path, a rate, an event time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from penstock.cql.declare.kafka_values import topics_in
from penstock.cql.declare.options import Setting
from penstock.cql.reading.nearest import listed, nearest
from penstock.cql.reading.text import Text
from penstock.errors import FollowingError, SqlError
from penstock.query.source import FILE_FORMATS, MADE_FORMATS, Field, Source
from penstock.query.types import DataType

RATE_FIELDS = (Field("timestamp", DataType.TIMESTAMP), Field("value", DataType.BIGINT))

_OF_VALUES = {"delimiter": "csv", "null": "csv", "schema": "avro"}
"""Options that one kind of values of records has."""


def needs(source: Source) -> Iterator[SqlError]:
    """The faults of a source that has not what its format needs."""
    if not source.fields:
        hint = f"write {source.name} (column TYPE, …)"
        if source.format == "dataframe":
            hint = f'give its DataFrame, ps.sql(…, streams={{"{source.name}": frame}}), or {hint}'
        yield _lacks(source, "columns", hint)
    if source.format in FILE_FORMATS and source.path is None:
        yield _lacks(source, "path", "add path = 'a file or directory'")
    if source.format == "rate" and source.fields != RATE_FIELDS:
        message = "the columns of format rate are timestamp TIMESTAMP, value BIGINT"
        yield _at(source, "name", message, "leave the list of columns out")
    if source.format == "kafka":
        yield from _topic_needs(source)
    is_of_records = str(source.option("start")).startswith(("earliest", "latest", "{"))
    if source.format in MADE_FORMATS and is_of_records:
        message = f"a made-up stream cannot start at {source.option('start')}"
        yield _at(source, "start", message, "write start = '2026-01-01 00:00:00'")
    if source.format in MADE_FORMATS and source.rate is None:
        what = "tuples" if source.format == "synthetic" else "events of all three streams"
        yield _lacks(source, "rate", f"add rate = 1000, in {what} per second of event time")
    if source.option("rows") is not None and source.option("duration") is not None:
        message = "rows and duration both say where the stream ends"
        yield _at(source, "duration", message, "keep one of them")


def _topic_needs(source: Source) -> Iterator[SqlError]:
    """The faults of a source without all that it takes to read from Kafka."""
    if source.option("servers") is None:
        yield _lacks(source, "servers", "add servers = 'host:9092', the brokers to ask")
    if source.option("topic") is None:
        yield _lacks(source, "topic", f"add topic = '{source.name}'")
    for option, value in _OF_VALUES.items():
        if source.option(option) is not None and source.option("value") != value:
            message = f"{option} belongs to value = '{value}'"
            yield _at(source, option, message, f"add value = '{value}', or leave {option} out")
    if source.option("value") == "avro" and source.option("schema") is None:
        yield _lacks(source, "schema", f"add schema = '{source.name}.avsc', a file")
    topics = topics_in(str(source.option("start")))
    if topics is not None and topics != [source.option("topic")]:
        message = f"these are offsets of {', '.join(topics)}, not of {source.option('topic')}"
        yield _at(source, "start", message, "give those of the topic that the stream reads")
    for field in source.fields:
        wanted = field.record_type
        if wanted is not None and field.type is not wanted:
            message = f"the column {field.name} of a record is a {wanted}, not a {field.type}"
            yield _at(source, "name", message, f"declare it {field.name} {wanted}")


def with_event_time(text: Text, source: Source, settings: Mapping[str, Setting]) -> Source:
    """The stream with its timestamp as the column was declared, and checked."""
    field = _timestamp(source)
    if field.type is DataType.BIGINT and source.unit is None:
        message = f"the timestamp {field.name} is a BIGINT, of which the unit is not known"
        raise _at(source, "timestamp", message, "add unit = 'us', 'ms' or 's'")
    if field.type is DataType.TIMESTAMP and source.unit is not None:
        message = f"{field.name} is a TIMESTAMP, which needs no unit"
        raise text.error(settings["unit"].key, message, "leave unit out")
    return replace(source, timestamp=field.name)


def _timestamp(source: Source) -> Field:
    name = source.timestamp or ("timestamp" if source.format == "rate" else None)
    names = [field.name for field in source.fields]
    if name is None:
        usable = (field.name for field in source.fields if field.type is DataType.TIMESTAMP)
        example = next(usable, "column")
        raise _lacks(source, "timestamp", f"add timestamp = '{example}', the column of event time")
    field = next((f for f in source.fields if f.name.lower() == name.lower()), None)
    if field is None:
        hint = nearest(name, names, listed("columns", names))
        fault = source.unheld_fault(name)
        if fault is not None:
            raise _at(source, "timestamp", fault, "cast it to TIMESTAMP in the DataFrame")
        raise _at(source, "timestamp", f"{source.name} has no column {name}", hint)
    if field.type is DataType.NULL:
        message = f"the type of {field.name} is not known"
        raise FollowingError(message, place=source.places["name"])
    if field.type is DataType.TIMESTAMP_NTZ:
        message = f"the timestamp {field.name} has no zone, so that it is not known when it was"
        raise _at(source, "timestamp", message, _how_zoned(source))
    if field.type not in (DataType.TIMESTAMP, DataType.BIGINT):
        message = f"the timestamp {field.name} is of type {field.type}"
        raise _at(source, "timestamp", message, "declare it TIMESTAMP, or BIGINT with a unit")
    return field


def _how_zoned(source: Source) -> str:
    """How a format gets to times of which it is known when they were."""
    match source.format:
        case "dataframe":
            return "cast it to TIMESTAMP in the DataFrame: Spark takes it for the session's time"
        case "spark":
            return "declare it TIMESTAMP if the reader gives it so; if not, cast it in a DataFrame"
        case "synthetic":
            return "declare it TIMESTAMP, which is made in UTC"
    return "declare it TIMESTAMP, and where its clock is: timezone = 'Europe/Vienna'"


def with_key(source: Source) -> Source:
    """The source with the columns of its key as they were declared, if it has one."""
    if source.key is None:
        return source
    found = tuple(_key_column(source, name) for name in source.key)
    if len(set(found)) < len(found):
        raise _at(source, "key", "the key has a column twice", "keep one of them")
    return replace(source, key=found)


def _key_column(source: Source, name: str) -> str:
    names = [field.name for field in source.fields]
    field = next((f for f in source.fields if f.name.lower() == name.lower()), None)
    if field is None:
        hint = nearest(name, names, listed("columns", names))
        fault = source.unheld_fault(name) or f"{source.name} has no column {name}"
        raise _at(source, "key", fault, hint)
    if field.type.is_nested or not field.type.is_held:
        message = f"{field.name} is {field.type}, by which rows cannot be told apart"
        raise _at(source, "key", message, "choose columns of numbers, text or times")
    return field.name


def _lacks(source: Source, what: str, hint: str) -> SqlError:
    return _at(source, "name", f"{source.kind} {source.name} has no {what}", hint)


def _at(source: Source, key: str, message: str, hint: str | None) -> SqlError:
    return SqlError(message, place=source.places.get(key, source.places["name"]), hint=hint)
