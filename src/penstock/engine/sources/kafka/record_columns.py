"""Columns of what records tell beside their values: time, key, place and headers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.expressions.timestamps import EARLIEST, LATEST
from penstock.engine.sources.parsed import shorten
from penstock.query.source import Field

if TYPE_CHECKING:
    from confluent_kafka import Message


def record_column(field: Field, records: Sequence[Message], faults: dict[int, str]) -> pa.Array:
    """A column of the records themselves; what cannot be held is added to the faults."""
    match field.name.lower():
        case "kafka_timestamp":
            values: list[Any] = [_micros(row, each, faults) for row, each in enumerate(records)]
            return pa.array(values, pa.int64()).cast(arrow_type(field.type))
        case "kafka_key":
            values = [_key(row, each, faults) for row, each in enumerate(records)]
        case "kafka_partition":
            values = [record.partition() for record in records]
        case "kafka_offset":
            values = [record.offset() for record in records]
        case _:
            values = [_headers(record) for record in records]
    return pa.array(values, arrow_type(field.type))


def _micros(row: int, record: Message, faults: dict[int, str]) -> int | None:
    kind, millis = record.timestamp()
    if kind == 0:
        return None
    if not EARLIEST <= millis * 1000 <= LATEST:
        faults.setdefault(row, out_of_years(millis))
        return None
    return int(millis * 1000)


def out_of_years(millis: int) -> str:
    """What is wrong with a time that no timestamp can tell."""
    return f"its time, {millis} ms since 1970, is not of the years 1 to 9999"


def _key(row: int, record: Message, faults: dict[int, str]) -> str | None:
    """The key as text. Another text in the place of what is none would equal others' keys."""
    key = record.key()
    try:
        return key.decode() if isinstance(key, bytes) else key
    except UnicodeDecodeError:
        faults.setdefault(row, f"its key {shorten(key)} is not UTF-8")
        return None


def _headers(record: Message) -> str | None:
    """The headers by name; of a name that occurs more than once, a list."""
    found: dict[str, list[str | None]] = {}
    for name, value in record.headers() or ():
        found.setdefault(name, []).append(_text(value))
    made = {name: texts[0] if len(texts) == 1 else texts for name, texts in found.items()}
    return json.dumps(made, ensure_ascii=False) if made else None


def _text(data: Any) -> str | None:
    return data.decode(errors="backslashreplace") if isinstance(data, bytes) else data
