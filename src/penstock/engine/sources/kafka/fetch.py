"""Records of a slice as the brokers give them, all of them or an error."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from penstock.engine.sources.kafka.client import PATIENCE, consumer_of, explained
from penstock.engine.sources.slices import Slice
from penstock.engine.state.frontier import part_name
from penstock.errors import SourceError
from penstock.query.source import Source

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message

MOST = 10_000
"""Records that are asked for at once."""
_WAIT = 0.2
"""Seconds that one request may take before it is asked again."""


def fetched(source: Source, piece: Slice) -> list[Message]:
    """The records of a slice. It may end in a gap, where transactions or compaction left none.

    Where some were lost and the source may skip them, what is left of them.
    """
    consumer, topic = consumer_of(source), str(source.option("topic"))
    with explained(source, f"read {part_name(topic, str(piece.number))}"):
        try:
            if source.option("data_loss") == "skip":
                piece = _left(consumer, topic, piece)
            return _fetched(consumer, source, piece) if piece.first < piece.last else []
        finally:
            consumer.unassign()


def _left(consumer: Consumer, topic: str, piece: Slice) -> Slice:
    """The part of a slice that is still there."""
    from confluent_kafka import TopicPartition

    low, high = consumer.get_watermark_offsets(
        TopicPartition(topic, piece.number), timeout=PATIENCE
    )
    return replace(piece, first=max(piece.first, low), last=min(piece.last, high))


def _fetched(consumer: Consumer, source: Source, piece: Slice) -> list[Message]:
    from confluent_kafka import TopicPartition

    found, waited = list[Any](), time.monotonic()
    consumer.assign([TopicPartition(str(source.option("topic")), piece.number, piece.first)])
    while True:
        # More than are left would be waited for.
        left = piece.last - (found[-1].offset() + 1 if found else piece.first)
        records = consumer.consume(min(MOST, left), timeout=_WAIT)
        if _takes_last(source, piece, records, found):
            return found
        if any(record.error() is None for record in records):
            waited = time.monotonic()
        elif time.monotonic() - waited > PATIENCE:
            raise _failed(source, piece, f"nothing came for {PATIENCE:.0f} s")


def _takes_last(source: Source, piece: Slice, records: list[Message], found: list[Message]) -> bool:
    """Whether the slice is at its end with these records, which are added to those found."""
    from confluent_kafka import KafkaError

    here = (source.option("topic"), piece.number)
    for record in records:
        error, offset = record.error(), record.offset() or 0
        if record.topic() is not None and (record.topic(), record.partition()) != here:
            # The consumer read another slice before; of what it left nothing counts.
            continue
        if error is not None and error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED:
            # The client looks for its group, whether it is used or not; ours has no say in it.
            continue
        if error is not None and error.code() != KafkaError._PARTITION_EOF:
            raise _failed(source, piece, error.str())
        if offset >= piece.last:
            return True
        if error is None:
            found.append(record)
    return bool(found) and found[-1].offset() == piece.last - 1


def _failed(source: Source, piece: Slice, reason: str) -> SourceError:
    here = part_name(str(source.option("topic")), str(piece.number))
    return SourceError(
        f"cannot read {here}@{piece.first} of stream {source.name}: {reason}",
        place=source.places.get("topic"),
        hint="nothing is lost here: mend that, then run again on this checkpoint; "
        "data_loss = 'skip' goes on without records that are gone",
    )
