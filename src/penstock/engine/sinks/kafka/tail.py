"""The tail of a topic: where it ends, and whether a batch is in what came last."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from penstock.engine.sinks.kafka.clients import AGAIN, Clients
from penstock.engine.sources.kafka.client import PATIENCE
from penstock.errors import SinkError

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message
    from confluent_kafka.admin import OffsetSpec, TopicMetadata

RUN, BATCH = "penstock-run", "penstock-batch"
"""Headers of each record: the mark of the checkpoint that it comes from, and the batch."""
Positions = Mapping[int, int]
"""Offsets by partition."""
_LOOK = 3.0
"""Seconds after which is looked whether the brokers refuse us, or only are slow."""
_MOST = 10_000
_WAIT = 0.2
"""Records that are asked for at once, and the seconds in which they may come."""


def headers_of(mark: str, batch: int) -> list[tuple[str, bytes]]:
    """The headers of a batch's records."""
    return [(RUN, mark.encode()), (BATCH, str(batch).encode())]


def partitions_of(clients: Clients) -> list[int]:
    """The partitions of the topic, which must be there."""
    topic = clients.topic
    consumer = clients.consumer()
    try:
        with clients.explained("list"):
            known = _listed(clients, consumer)
    finally:
        consumer.close()
    if known.error is not None and known.error.name() != "UNKNOWN_TOPIC_OR_PART":
        raise clients.failed("list", known.error)
    if known.error is not None or not known.partitions:
        raise SinkError(
            f"there is no topic {topic.name} at {topic.servers}",
            hint="is the name right? Make the topic, with as many partitions as it shall have",
        )
    return sorted(known.partitions)


def _listed(clients: Clients, consumer: Consumer) -> TopicMetadata:
    """What brokers tell of the topic; a client that they refuse is not asked again."""
    from confluent_kafka import KafkaException

    name, until = clients.topic.name, time.monotonic() + PATIENCE
    while True:
        try:
            # A producer would make the topic by asking for it.
            return consumer.list_topics(name, timeout=min(_LOOK, PATIENCE)).topics[name]
        except KafkaException as error:
            consumer.poll(0)  # It is then that a client tells what went wrong before.
            if clients.refusals or time.monotonic() >= until:
                raise KafkaException(next(iter(clients.refusals), error.args[0])) from None


def ends_of(clients: Clients, partitions: list[int]) -> Positions:
    """The offsets behind all that was ever written, committed or not."""
    from confluent_kafka.admin import OffsetSpec

    return _asked(clients, dict.fromkeys(partitions, OffsetSpec.latest()))


def is_committed(clients: Clients, headers: list[tuple[str, bytes]], since: Positions) -> bool:
    """Whether records with these headers are among those since some positions.

    Nobody may be writing such records any more.
    """
    from confluent_kafka.admin import OffsetSpec

    partitions = partitions_of(clients)
    ends = ends_of(clients, partitions)
    begins = _asked(clients, dict.fromkeys(partitions, OffsetSpec.earliest()))
    _refuse_shorter(clients, since, ends)
    first = {part: since.get(part, 0) for part in partitions}
    here = {part: (max(first[part], begins[part]), ends[part]) for part in partitions}
    for record in _between(clients, here):
        if (record.headers() or [])[: len(headers)] == headers:
            return True
    gone = [part for part in partitions if begins[part] > first[part]]
    if gone:
        _, batch = headers[-1]
        raise SinkError(
            f"whether batch {batch.decode()} is in topic {clients.topic.name} cannot be told: "
            f"records of partition {gone[0]} up to {begins[gone[0]]:,} were deleted",
            hint="they may have been its results; start anew with another --checkpoint",
        )
    return False


def _refuse_shorter(clients: Clients, since: Positions, ends: Positions) -> None:
    for part, position in since.items():
        if ends.get(part, 0) < position:
            raise SinkError(
                f"topic {clients.topic.name} is not as the last batch left it: partition {part} "
                f"ends at {ends.get(part, 0):,}, not at {position:,} or later",
                hint="it was made anew, or cut off; start anew with another --checkpoint",
            )


def _between(clients: Clients, ranges: Mapping[int, tuple[int, int]]) -> Iterator[Message]:
    """All committed records between two offsets of each partition."""
    from confluent_kafka import TopicPartition

    left = {part: (first, end) for part, (first, end) in ranges.items() if first < end}
    consumer, name = clients.consumer(), clients.topic.name
    try:
        with clients.explained("read"):
            consumer.assign(
                [TopicPartition(name, part, first) for part, (first, _) in left.items()]
            )
            yield from _until(clients, consumer, left)
    finally:
        consumer.close()


def _until(
    clients: Clients, consumer: Consumer, left: dict[int, tuple[int, int]]
) -> Iterator[Message]:
    """Records up to an end in each partition. Ends may lie in gaps, which are told as ends only
    once the transactions before them are over."""
    waited = time.monotonic()
    while left:
        # More than are left would be waited for.
        most = min(_MOST, sum(end - place for place, end in left.values()))
        records = consumer.consume(most, timeout=_WAIT)
        for record in records:
            error, part, offset = record.error(), record.partition(), record.offset()
            if error is None:
                yield record
                offset += 1
            elif error.name() != "_PARTITION_EOF":
                raise clients.failed("read", error)
            if part in left:
                left[part] = (offset, left[part][1])
            if part in left and offset >= left[part][1]:
                del left[part]
        if any(record.error() is None for record in records):
            waited = time.monotonic()
        elif left and time.monotonic() - waited > PATIENCE:
            part, (_, end) = min(left.items())
            raise SinkError(
                f"topic {clients.topic.name} cannot be read up to {end:,} in partition {part}: "
                "somebody has a transaction open there",
                hint=AGAIN,
            )


def _asked(clients: Clients, specs: Mapping[int, OffsetSpec]) -> Positions:
    from confluent_kafka import IsolationLevel, TopicPartition

    name = clients.topic.name
    with clients.explained("find offsets in"):
        found = clients.admin.list_offsets(
            {TopicPartition(name, part): spec for part, spec in specs.items()},
            isolation_level=IsolationLevel.READ_UNCOMMITTED,
            request_timeout=PATIENCE,
        )
        offsets = {asked.partition: int(each.result().offset) for asked, each in found.items()}
    # That is how a request ends whose time is up.
    if any(offset < 0 for offset in offsets.values()):
        raise SinkError(
            f"cannot find offsets in topic {name} at {clients.topic.servers}: no answer came",
            hint="nothing is lost: once the brokers answer, run again on this checkpoint",
        )
    return offsets
