"""A cluster for tests: that of librdkafka itself, made up in this process, or a real broker.

The made-up one listens on a port of this machine. It takes transactions, but shows what was not
committed too, and fences nobody: tests of these run with the real one alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.engine.sources.kafka import client
from support.kafka.real_broker import SERVERS
from support.waiting import PATIENCE, wait_until

REAL = os.environ.get(SERVERS)
"""The address of a real broker, if one was started for these tests."""
only_real = pytest.mark.skipif(REAL is None, reason="make test-kafka runs it, with a real broker")
PARTITIONS = 4


@dataclass(frozen=True)
class Record:
    """A record as a consumer gets it."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Mapping[str, bytes]

    @property
    def data(self) -> Any:
        """The value, which is JSON; None of a deletion."""
        return None if self.value is None else json.loads(self.value)


class Cluster:
    """One broker without topics, which appear when they are written to, with four partitions.

    The made-up one lives as long as this object; the real one is emptied for each.
    """

    def __init__(self) -> None:
        settings = {"test.mock.num.brokers": 1} if REAL is None else {"bootstrap.servers": REAL}
        if REAL is not None:
            _empty(REAL)
        # What a slow broker makes the producer send again comes once, and in its order.
        self._producer = Producer({**settings, "log_level": 0, "enable.idempotence": True})
        brokers = self._producer.list_topics(timeout=PATIENCE).brokers.values()
        self.servers = REAL or ",".join(f"{each.host}:{each.port}" for each in brokers)

    def send(self, topic: str, part: int, *values: Mapping[str, Any] | bytes | None) -> None:
        """Write records, of which those that are no bytes are JSON."""
        for value in values:
            data = json.dumps(value).encode() if isinstance(value, Mapping) else value
            self._producer.produce(topic, value=data, partition=part)
        assert self._producer.flush(PATIENCE) == 0

    def make(self, topic: str, **config: str) -> None:
        """Have an empty topic; only a real broker can have it configured."""
        if config:
            _make(self.servers, topic, config)
        wait_until(lambda: self._is_led(topic))

    def _is_led(self, topic: str) -> bool:
        """Whether all partitions have a leader, so that they can be asked."""
        known = self._known(topic).values()
        return len(known) == PARTITIONS and all(part.leader >= 0 for part in known)

    def _known(self, topic: str) -> Mapping[int, Any]:
        known: Mapping[int, Any] = self._producer.list_topics(topic, timeout=PATIENCE).topics
        return known[topic].partitions  # type: ignore[no-any-return, index]

    def read(self, topic: str) -> list[Record]:
        """All that is committed, in the order of partitions and offsets."""
        first = [TopicPartition(topic, part, 0) for part in self._known(topic)]
        with consuming(self.servers, first) as consumer:
            found = list(_up_to_the_ends(consumer, len(first)))
        return sorted(found, key=lambda record: (record.partition, record.offset))


def make_compacted(cluster: Cluster, topic: str) -> None:
    """Make a topic of which a real broker soon keeps the last record of each key alone."""
    cluster.make(
        topic,
        cleanup_policy="compact",
        segment_ms="100",
        min_cleanable_dirty_ratio="0.001",
        max_compaction_lag_ms="100",
        delete_retention_ms="100",
    )


class consuming:  # noqa: N801 - it is used as a function
    """A consumer that reads what is committed from some places on."""

    def __init__(self, servers: str, places: list[TopicPartition]) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": "tests",
                "enable.partition.eof": True,
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                # At the end of a topic brokers would wait for more.
                "fetch.wait.max.ms": 20,
                "log_level": 0,
            }
        )
        self._consumer.assign(places)

    def __enter__(self) -> Consumer:
        return self._consumer

    def __exit__(self, *_: object) -> None:
        self._consumer.close()


def record_of(message: Message) -> Record | None:
    """A record, or None for the end of a partition."""
    error = message.error()
    if error is not None:
        assert error.code() == KafkaError._PARTITION_EOF, error
        return None
    headers = {name: bytes(value) for name, value in message.headers() or []}
    return Record(message.partition(), message.offset(), message.key(), message.value(), headers)


def _up_to_the_ends(consumer: Consumer, partitions: int) -> Iterator[Record]:
    ended = set[int]()
    while len(ended) < partitions:
        # To ask for many at once would be to wait for them.
        message = consumer.poll(1.0)
        record = None if message is None else record_of(message)
        if record is not None:
            yield record
        elif message is not None:
            ended.add(message.partition())


def _make(servers: str, topic: str, config: Mapping[str, str]) -> None:
    named = {name.replace("_", "."): value for name, value in config.items()}
    admin = AdminClient({"bootstrap.servers": servers})
    for made in admin.create_topics([NewTopic(topic, PARTITIONS, 1, config=named)]).values():
        made.result(PATIENCE)


def _empty(servers: str) -> None:
    """Delete all topics, and forget what clients know of them."""
    admin = AdminClient({"bootstrap.servers": servers})
    client._consumer.cache_clear()
    client._admin.cache_clear()

    def names() -> list[str]:
        return [
            name for name in admin.list_topics(timeout=PATIENCE).topics if not name.startswith("__")
        ]

    if names():
        for gone in admin.delete_topics(names()).values():
            gone.result(PATIENCE)
    wait_until(lambda: not names())
