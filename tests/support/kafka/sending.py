"""Records with all that they may have, and transactions, for a cluster of any kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from confluent_kafka import IsolationLevel, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from support.waiting import PATIENCE, wait_until

Headers = Sequence[tuple[str, bytes | None]]


@dataclass(frozen=True)
class Sent:
    """A record to send; `millis` is its own time, and None the moment at which it is sent."""

    value: bytes | None
    part: int = 0
    key: bytes | None = None
    headers: Headers = ()
    millis: int | None = None


def send(servers: str, topic: str, records: Iterable[Sent], *, at_once: int = 10_000) -> None:
    """Write records to a topic, so many in one message set at the most."""
    producer = Producer(
        {
            "bootstrap.servers": servers,
            "log_level": 0,
            "batch.num.messages": at_once,
            # What a slow broker makes the producer send again comes once, and in its order.
            "enable.idempotence": True,
        }
    )
    _produce(producer, topic, records)
    assert producer.flush(PATIENCE) == 0


def transactional(servers: str, name: str) -> Producer:
    """A producer of transactions, which brokers do not end however long they last."""
    lasting = {"transaction.timeout.ms": 900_000}
    return Producer(
        {"bootstrap.servers": servers, "log_level": 0, "transactional.id": name, **lasting}
    )


def send_in_transaction(
    servers: str, topic: str, records: Iterable[Sent], *, commits: bool
) -> None:
    """Write records in a transaction that is committed, or aborted."""
    producer = transactional(servers, "tests")
    producer.init_transactions(PATIENCE)
    producer.begin_transaction()
    _produce(producer, topic, records)
    assert producer.flush(PATIENCE) == 0
    if commits:
        producer.commit_transaction(PATIENCE)
    else:
        producer.abort_transaction(PATIENCE)
    await_ends(servers, topic)


def await_ends(servers: str, topic: str) -> None:
    """Wait until no transaction is open in a topic: brokers close them after they have said so."""
    admin = AdminClient({"bootstrap.servers": servers, "log_level": 0})
    known = admin.list_topics(topic, timeout=PATIENCE).topics[topic].partitions
    asked = {TopicPartition(topic, part): OffsetSpec.latest() for part in known}

    def ends(level: IsolationLevel) -> dict[int, int]:
        found = admin.list_offsets(dict(asked), isolation_level=level)
        return {place.partition: each.result(PATIENCE).offset for place, each in found.items()}

    wait_until(lambda: ends(IsolationLevel.READ_COMMITTED) == ends(IsolationLevel.READ_UNCOMMITTED))


def _produce(producer: Producer, topic: str, records: Iterable[Sent]) -> None:
    for sent in records:
        given = {} if sent.millis is None else {"timestamp": sent.millis}
        headers = list(sent.headers) or None
        producer.produce(
            topic, value=sent.value, key=sent.key, partition=sent.part, headers=headers, **given
        )
