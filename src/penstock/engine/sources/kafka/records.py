"""Records of a topic as tuples: a slice of a partition is read, parsed, and its faults named."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.sources.json_rows import parse_lines
from penstock.engine.sources.kafka.client import PATIENCE, consumer_of, explained
from penstock.engine.sources.lines import Piece
from penstock.engine.sources.member_rows import with_members
from penstock.engine.sources.parsed import Located, Parsed, requested
from penstock.engine.sources.read import Block, blocks_of
from penstock.engine.sources.slices import Slice
from penstock.engine.state.frontier import part_name
from penstock.errors import SourceError
from penstock.query.members import whole_columns
from penstock.query.source import RECORD_COLUMNS, Field, Source

if TYPE_CHECKING:
    from confluent_kafka import Message

_MOST = 10_000
"""Records that are asked for at once."""
_WAIT = 0.2
"""Seconds that one request may take before it is asked again."""


def fetched(source: Source, piece: Slice) -> list[Message]:
    """The records of a slice. It may end in a gap, where transactions or compaction left none."""
    from confluent_kafka import KafkaError, TopicPartition

    consumer, found = consumer_of(source), list[Any]()
    topic, waited = str(source.option("topic")), time.monotonic()
    where = TopicPartition(topic, piece.number, piece.first)
    with explained(source, f"read {part_name(topic, str(piece.number))}"):
        consumer.assign([where])
        try:
            while True:
                # More than are left would be waited for.
                left = piece.last - (found[-1].offset() + 1 if found else piece.first)
                records = consumer.consume(min(_MOST, left), timeout=_WAIT)
                for record in records:
                    error = record.error()
                    if error is None and record.offset() < piece.last:
                        found.append(record)
                    elif error is None:
                        return found
                    elif error.code() != KafkaError._PARTITION_EOF:
                        raise _failed(source, piece, error.str())
                    elif record.offset() >= piece.last:
                        return found
                if found and found[-1].offset() == piece.last - 1:
                    return found
                if records:
                    waited = time.monotonic()
                elif time.monotonic() - waited > PATIENCE:
                    raise _failed(source, piece, f"nothing came for {PATIENCE:.0f} s")
        finally:
            consumer.unassign()


def _failed(source: Source, piece: Slice, reason: str) -> SourceError:
    here = part_name(str(source.option("topic")), str(piece.number))
    return SourceError(
        f"cannot read {here}@{piece.first} of stream {source.name}: {reason}",
        place=source.places.get("topic"),
        hint="nothing is lost: mend that, then run again on this checkpoint",
    )


def read_records(source: Source, columns: Collection[str], piece: Slice) -> Iterator[Records]:
    """The sound records of a slice, with their offsets."""
    where = part_name(str(source.option("topic")), str(piece.number))
    fields = requested(source, columns)
    records = fetched(source, piece)
    offsets = np.array([record.offset() for record in records], np.int64)
    for first in range(0, len(records), _MOST):
        run = records[first : first + _MOST]
        parsed = with_members(fields, _parsed(whole_columns(source, fields), run, source.timezone))
        for block in blocks_of(source, where, parsed, 0):
            rows = np.arange(len(block.batch)) + block.first_row
            places = rows if block.rows is None else block.rows.to_numpy()
            yield Records(block, offsets[first + places])


@dataclass(frozen=True)
class Records:
    """Records as rows, and the offset of each."""

    block: Block
    offsets: np.ndarray[Any, np.dtype[np.int64]]


def _parsed(wanted: Sequence[Field], records: Sequence[Message], zone: str | None) -> Parsed:
    """The values of records in the declared types, with what the records themselves tell."""
    fields = [field for field in wanted if field.name not in RECORD_COLUMNS]
    # Line ends are blanks in JSON; one in a text is an escape.
    values = [(record.value() or b"").replace(b"\n", b" ") or b" " for record in records]
    empty = [row for row, value in enumerate(values) if not value.strip()]
    for row in empty:
        values[row] = b"{}"
    inner = parse_lines(fields, Piece(b"\n".join(values), 1), zone) if fields else None
    faults: Mapping[int, str] = {} if inner is None else inner.faults
    faults = {**faults, **dict.fromkeys(empty, "it has no value")} if fields else faults
    columns = {
        field.name: inner.batch.column(field.name)
        if inner is not None and field in fields
        else _of_records(field, records)
        for field in wanted
    }
    return Parsed(pa.record_batch(columns), faults, partial(_located, records))


def _of_records(field: Field, records: Sequence[Message]) -> pa.Array:
    """A column of what the records tell beside their values."""
    match field.name:
        case "kafka_timestamp":
            values: list[Any] = [_micros(record) for record in records]
            return pa.array(values, pa.int64()).cast(arrow_type(field.type))
        case "kafka_key":
            values = [_text(record.key()) for record in records]
        case "kafka_partition":
            values = [record.partition() for record in records]
        case "kafka_offset":
            values = [record.offset() for record in records]
        case _:
            values = [_headers(record) for record in records]
    return pa.array(values, arrow_type(field.type))


def _micros(record: Message) -> int | None:
    kind, millis = record.timestamp()
    return None if kind == 0 else millis * 1000


def _text(data: Any) -> str | None:
    return data.decode(errors="replace") if isinstance(data, bytes) else data


def _headers(record: Message) -> str | None:
    headers = record.headers()
    return None if not headers else json.dumps({name: _text(value) for name, value in headers})


def _located(records: Sequence[Message], rows: Collection[int]) -> Mapping[int, Located]:
    return {
        row: Located("offset", records[row].offset() or 0, _text(records[row].value()) or "")
        for row in rows
    }
