"""The writer of a topic: the results of each batch in one transaction, once."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from penstock.engine.places.place import Place
from penstock.engine.sinks.kafka.clients import Clients
from penstock.engine.sinks.kafka.keyed import Record, check_keys, staged_records
from penstock.engine.sinks.kafka.tail import (
    Positions,
    ends_of,
    headers_of,
    is_committed,
    partitions_of,
)
from penstock.engine.sinks.kafka.topic import Topic
from penstock.engine.sources.kafka.client import PATIENCE
from penstock.engine.state.manifest import Manifest
from penstock.errors import SinkError
from penstock.query import Query

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message, Producer

_SOON = 5.0
"""Seconds to abort in; if that is not enough, the next run does it."""


class TopicWriter:
    """Publishes what the tasks of one checkpoint have staged in a folder.

    The checkpoint's mark names its transactions, so that there is one writer at a time: a new one
    ends what an old one has begun. It then looks whether the batch was committed before.
    """

    def __init__(self, topic: Topic, folder: Place, mark: str):
        self._clients = Clients(topic)
        self._folder = folder
        self._mark = mark
        self._producer: Producer | None = None
        self._published = -1
        self._fault: KafkaError | None = None

    def positions(self) -> Positions:
        """Offsets of each partition behind which the next batch will be."""
        return ends_of(self._clients, self._partitions)

    @cached_property
    def _partitions(self) -> list[int]:
        return partitions_of(self._clients)

    def publish(self, manifest: Manifest) -> None:
        """Have the results of a final batch in the topic. Trying again changes nothing."""
        # What was staged is removed once all of it is published.
        is_staged = self._folder.has_any([part.staged for part in manifest.parts])
        if manifest.batch <= self._published or not is_staged:
            return
        try:
            if self._producer is not None or not self._is_found(manifest):
                self._transact(manifest)
        except BaseException:
            self.close()
            raise
        self._published = manifest.batch

    def close(self) -> None:
        """Let go of the brokers."""
        self._producer = None

    def _is_found(self, manifest: Manifest) -> bool:
        """Take over from earlier writers, and look whether they have committed a batch."""
        self._fault, self._producer = None, self._clients.producer(self._mark, self._refused)
        headers = headers_of(self._mark, manifest.batch)
        return is_committed(self._clients, headers, manifest.sink_positions)

    def _transact(self, manifest: Manifest) -> None:
        with self._clients.explained("write to"):
            assert self._producer is not None, "there is a producer before there are transactions"
            self._producer.begin_transaction()
            try:
                self._send_all(manifest)
                self._commit()
            except BaseException:
                self._abort()
                raise

    def _send_all(self, manifest: Manifest) -> None:
        headers = headers_of(self._mark, manifest.batch)
        for part in manifest.parts:
            try:
                for record in staged_records(self._folder, part.staged):
                    self._send(record, headers)
            except FileNotFoundError:
                raise SinkError(
                    f"results of batch {manifest.batch} are missing: {part.staged}",
                    hint="they were staged there, and somebody has removed them",
                ) from None

    def _send(self, record: Record, headers: list[tuple[str, bytes]]) -> None:
        assert self._producer is not None, "only transactions send"
        key, value = record
        name = self._clients.topic.name
        while True:
            try:
                self._producer.produce(name, value, key, headers=headers)
            except BufferError:
                self._make_room()
            else:
                return

    def _make_room(self) -> None:
        """Wait until the brokers have taken what was sent."""
        assert self._producer is not None, "only transactions send"
        if self._producer.flush(PATIENCE):
            topic = self._clients.topic
            raise SinkError(
                f"topic {topic.name} at {topic.servers} took nothing for {PATIENCE:.0f} s",
                hint="nothing is lost: once the brokers answer, run again on this checkpoint",
            )

    def _refused(self, error: KafkaError, _record: Message) -> None:
        self._fault = self._fault or error

    def _commit(self) -> None:
        from confluent_kafka import KafkaException

        assert self._producer is not None, "only transactions are committed"
        try:
            self._producer.commit_transaction(PATIENCE)
        except KafkaException as error:
            # Why the brokers refused a record says more than that they did.
            told = self._fault if error.args[0].txn_requires_abort() else None
            raise (error if told is None else KafkaException(told)) from None

    def _abort(self) -> None:
        """Have readers wait no longer for a transaction that failed, if that can be."""
        from confluent_kafka import KafkaException

        assert self._producer is not None, "only transactions are aborted"
        with suppress(KafkaException):
            self._producer.abort_transaction(_SOON)


def check_topic(topic: Topic, query: Query, *, overwrite: bool) -> None:
    """Refuse a topic that is not there or cannot take the results of a query."""
    check_keys(query)
    if overwrite:
        raise SinkError(
            f"topic {topic.name} is appended to, and never overwritten",
            hint="leave out --overwrite; delete its records yourself, or take another topic",
        )
    partitions_of(Clients(topic))
