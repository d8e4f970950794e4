"""Readers of partitions: records in bulk where that is enough, as objects where more is asked."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from penstock.engine.sources.kafka.client import Value, consumer_of, settings_of
from penstock.engine.sources.kafka.librdkafka import Handle, bound
from penstock.engine.sources.kafka.run import Bulk, Objects, Run
from penstock.kernels.foreign.messages import heads_of, release, times_of, values_of
from penstock.query.source import Source

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message

Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]
BULK_COLUMNS = frozenset({"kafka_partition", "kafka_offset", "kafka_timestamp"})
"""What records in bulk tell beside their values."""


@dataclass(frozen=True)
class Problem:
    """What a client tells instead of a record: a code of its library, and its words."""

    code: int
    reason: str


@dataclass(frozen=True)
class Taken:
    """Records of the partition that is read, the last offset that was told, and problems."""

    run: Run
    reach: int = -1
    problems: Sequence[Problem] = ()


class Reader(Protocol):
    """A client that reads one partition at a time."""

    def start(self, topic: str, part: int, first: int, last: int) -> None:
        """Read a partition from an offset on, up to that before `last`, or somewhat further."""

    def take(self, most: int, timeout: float) -> Taken:
        """The next records, within so many seconds."""

    def stop(self) -> None:
        """Read nothing any more."""


def reader_of(source: Source, told: Collection[str]) -> Reader:
    """A reader of a source's brokers; `told` are the columns that values do not have."""
    c = bound() if BULK_COLUMNS.issuperset(told) else None
    if c is None:
        return ObjectReader(consumer_of(source))
    settings = tuple(sorted(settings_of(source).items()))
    return BulkReader(_handle(settings, os.getpid()), "kafka_timestamp" in told)


@lru_cache(maxsize=8)
def _handle(settings: tuple[tuple[str, Value], ...], _pid: int) -> Handle:
    return Handle.of(bound(), dict(settings))


@dataclass
class BulkReader:
    """A reader that makes arrays of records, and no object for each."""

    handle: Handle
    is_timed: bool
    topic: str = ""
    part: int = 0
    last: int = 0
    is_reading: bool = False

    def start(self, topic: str, part: int, first: int, last: int) -> None:
        """Read a partition from an offset on."""
        self.topic, self.part, self.last = topic, part, last
        self.is_reading = True
        self.handle.assign(topic, part, first)

    def stop(self) -> None:
        """Read nothing any more."""
        if self.is_reading:
            self.is_reading = False
            self.handle.unassign()

    def take(self, most: int, timeout: float) -> Taken:
        """The next records, within so many seconds."""
        messages = self.handle.messages(most, timeout)
        try:
            return self._taken(messages)
        finally:
            release(messages, _address(self.handle.c.rd_kafka_message_destroy))

    def _taken(self, messages: Int64s) -> Taken:
        errors, topics, parts, offsets, lengths = heads_of(messages)
        mine, odd = self._mine(topics, parts), errors != 0
        if mine.all() and not odd.any():
            # Nearly always, and then nothing need be taken out of anything.
            return self._of(messages, offsets, lengths)
        odd &= mine
        told = zip(messages[odd].tolist(), errors[odd].tolist(), strict=True)
        problems = [Problem(code, self._reason(message, code)) for message, code in told]
        sound = mine & (errors == 0)
        taken = self._of(messages[sound], offsets[sound], lengths[sound])
        return replace(taken, reach=int(offsets[mine].max(initial=-1)), problems=problems)

    def _mine(self, topics: Int64s, parts: Int64s) -> Bools:
        """Which messages concern what is read: the consumer read another slice before, and of
        what it left nothing counts."""
        mine: Bools = (parts == self.part) | (topics == 0)
        if not len(topics) or (topics == topics[0]).all():
            return mine & (not len(topics) or self._is_mine(int(topics[0])))
        distinct, which = np.unique(topics, return_inverse=True)
        named = np.array([self._is_mine(topic) for topic in distinct.tolist()], np.bool_)
        return mine & named[which]

    def _of(self, records: Int64s, offsets: Int64s, lengths: Int64s) -> Taken:
        """Some records, whose offsets rise."""
        reach = int(offsets[-1]) if len(offsets) else -1
        if reach >= self.last - 1:
            # Before anything else is done: the next ones are being fetched already.
            self.stop()
        run = Bulk(self.part, offsets, lengths, values_of(records, lengths))
        return Taken(self._timed(run, records) if self.is_timed else run, reach)

    def _is_mine(self, topic: int) -> bool:
        """Whether what is told concerns the topic, given by its address, or the whole client."""
        return not topic or self.handle.c.rd_kafka_topic_name(topic) == self.topic.encode()

    def _reason(self, message: int, code: int) -> str:
        c = self.handle.c
        text: bytes = c.rd_kafka_message_errstr(message) or c.rd_kafka_err2str(code)
        return text.decode(errors="replace")

    def _timed(self, run: Bulk, records: Int64s) -> Bulk:
        timestamp = _address(self.handle.c.rd_kafka_message_timestamp)
        times, kinds = times_of(records, timestamp, np.zeros(1, np.int32))
        return replace(run, times=times, kinds=kinds)


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


@dataclass
class ObjectReader:
    """A reader that has an object of the Python package for each record."""

    consumer: Consumer
    topic: str = ""
    part: int = 0

    def start(self, topic: str, part: int, first: int, last: int) -> None:
        """Read a partition from an offset on."""
        from confluent_kafka import TopicPartition

        self.topic, self.part = topic, part
        self.consumer.assign([TopicPartition(topic, part, first)])

    def stop(self) -> None:
        """Read nothing any more."""
        self.consumer.unassign()

    def take(self, most: int, timeout: float) -> Taken:
        """The next records, within so many seconds."""
        told = [each for each in self.consumer.consume(most, timeout) if self._is_mine(each)]
        reach = max((each.offset() or 0 for each in told), default=-1)
        failed = [error for each in told if (error := each.error()) is not None]
        run = Objects([each for each in told if each.error() is None])
        return Taken(run, reach, [Problem(error.code(), error.str()) for error in failed])

    def _is_mine(self, record: Message) -> bool:
        # The consumer read another slice before; of what it left nothing counts.
        return record.topic() is None or (
            (record.topic(), record.partition()) == (self.topic, self.part)
        )
