"""Records of a slice as the brokers give them, all of them or an error."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from penstock.engine.sources.kafka.client import PATIENCE, consumer_of, explained
from penstock.engine.sources.kafka.reader import Problem, Reader, reader_of
from penstock.engine.sources.kafka.run import Run
from penstock.engine.sources.slices import Slice
from penstock.engine.state.frontier import part_name
from penstock.errors import SourceError
from penstock.query.source import Source

if TYPE_CHECKING:
    from confluent_kafka import Consumer

MOST = 50_000
"""Records that are asked for at once."""
_WAIT = 0.2
"""Seconds that one request may take before it is asked again."""


def fetched(source: Source, piece: Slice, told: Collection[str] = ()) -> list[Run]:
    """The records of a slice. It may end in a gap, where transactions or compaction left none.

    `told` are the columns that are not in values. Where some records were lost and the source may
    skip them, what is left of them.
    """
    topic = str(source.option("topic"))
    with explained(source, f"read {part_name(topic, str(piece.number))}"):
        if source.option("data_loss") == "skip":
            piece = _left(consumer_of(source), topic, piece)
        if piece.first >= piece.last:
            return []
        reader = reader_of(source, told)
        try:
            reader.start(topic, piece.number, piece.first, piece.last)
            return _fetched(reader, source, piece)
        finally:
            reader.stop()


def _left(consumer: Consumer, topic: str, piece: Slice) -> Slice:
    """The part of a slice that is still there."""
    from confluent_kafka import TopicPartition

    low, high = consumer.get_watermark_offsets(
        TopicPartition(topic, piece.number), timeout=PATIENCE
    )
    return replace(piece, first=max(piece.first, low), last=min(piece.last, high))


def _fetched(reader: Reader, source: Source, piece: Slice) -> list[Run]:
    found, at, waited = list[Run](), piece.first, time.monotonic()
    while True:
        # More than are left would be waited for.
        taken = reader.take(min(MOST, piece.last - at), _WAIT)
        _refuse(source, piece, taken.problems)
        run = taken.run[: int(np.searchsorted(taken.run.offsets, piece.last))]
        if len(run.offsets):
            found.append(run)
            at, waited = int(run.offsets[-1]) + 1, time.monotonic()
        if max(at, taken.reach) >= piece.last:
            return found
        if time.monotonic() - waited > PATIENCE:
            raise _failed(source, piece, f"nothing came for {PATIENCE:.0f} s")


def _refuse(source: Source, piece: Slice, problems: Iterable[Problem]) -> None:
    """An error if one of the problems is more than the end of a partition."""
    from confluent_kafka import KafkaError

    # The client looks for its group, whether it is used or not; ours has no say in it.
    harmless = {KafkaError._PARTITION_EOF, KafkaError.GROUP_AUTHORIZATION_FAILED}
    for problem in problems:
        if problem.code not in harmless:
            raise _failed(source, piece, problem.reason)


def _failed(source: Source, piece: Slice, reason: str) -> SourceError:
    here = part_name(str(source.option("topic")), str(piece.number))
    return SourceError(
        f"cannot read {here}@{piece.first} of stream {source.name}: {reason}",
        place=source.places.get("topic"),
        hint="nothing is lost here: mend that, then run again on this checkpoint; "
        "data_loss = 'skip' goes on without records that are gone",
    )
