"""Offsets of a topic: where its partitions begin and end now, and where a stream starts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from penstock.engine.sources.kafka.client import PATIENCE, admin_of, consumer_of, explained
from penstock.errors import SourceError
from penstock.query.source import Source

if TYPE_CHECKING:
    from confluent_kafka.admin import OffsetSpec

Positions = Mapping[int, int]
"""Offsets by partition."""


def partitions_of(source: Source) -> list[int]:
    """The partitions of a source's topic."""
    topic = str(source.option("topic"))
    with explained(source, f"list topic {topic}"):
        # Brokers may make a topic that others than consumers ask for.
        known = consumer_of(source).list_topics(topic, timeout=PATIENCE).topics[topic]
    if known.error is not None or not known.partitions:
        raise SourceError(
            f"stream {source.name}: there is no topic {topic} at {source.option('servers')}",
            place=source.places.get("topic"),
            hint="is the name right? Make the topic before the query starts",
        )
    return sorted(known.partitions)


def topic_id_of(source: Source) -> str | None:
    """What tells a topic from another one of its name; None where the brokers do not say it."""
    from confluent_kafka import KafkaException, TopicCollection

    topic, admin = str(source.option("topic")), admin_of(source)
    with explained(source, f"list topic {topic}"):
        known = admin.list_topics(topic, timeout=PATIENCE)
    if known.controller_id not in known.brokers:
        # It would be asked until the time is up.
        return None
    try:
        found = admin.describe_topics(TopicCollection([topic]), request_timeout=PATIENCE)
        described = str(found[topic].result().topic_id)
    except KafkaException:
        # Whether brokers answer at all is told by what else they are asked.
        return None
    return described if described.strip("A=") else None


def ends_of(source: Source, partitions: list[int]) -> Positions:
    """The offsets after the last records that may be read."""
    from confluent_kafka.admin import OffsetSpec

    return _asked(source, dict.fromkeys(partitions, OffsetSpec.latest()))


def begins_of(source: Source, partitions: list[int]) -> Positions:
    """The offsets of the first records that are still there."""
    from confluent_kafka.admin import OffsetSpec

    return _asked(source, dict.fromkeys(partitions, OffsetSpec.earliest()))


def start_of(source: Source, partitions: list[int]) -> Positions:
    """Where a stream starts that has not been read before."""
    from confluent_kafka.admin import OffsetSpec

    start = str(source.option("start") or "earliest")
    match start.lower():
        case "earliest":
            return begins_of(source, partitions)
        case "latest":
            return ends_of(source, partitions)
    if start.startswith("{"):
        given = json.loads(start)
        # Spark's offsets are those of a topic by its name.
        of_topic = given.get(str(source.option("topic")))
        return _given(source, partitions, of_topic if isinstance(of_topic, dict) else given)
    moment = datetime.fromisoformat(start.strip())
    moment = moment.replace(tzinfo=moment.tzinfo or UTC)
    millis = int(moment.timestamp() * 1000)
    found = _asked(source, dict.fromkeys(partitions, OffsetSpec.for_timestamp(millis)))
    ends = ends_of(source, partitions)
    # Where nothing is as late as that, the first record to come is.
    return {part: offset if offset >= 0 else ends[part] for part, offset in found.items()}


def _given(source: Source, partitions: list[int], start: Mapping[str, int]) -> Positions:
    """The offsets that a user gives, and of other partitions the beginnings."""
    begins, ends = begins_of(source, partitions), ends_of(source, partitions)
    named = {-1: ends, -2: begins}
    given = {int(part): offset for part, offset in start.items()}
    given = {p: named[at].get(p, 0) if at in named else at for p, at in given.items()}
    for part, offset in given.items():
        here = f"{source.option('topic')}[{part}]"
        if part not in begins:
            reason = f"there is no {here}; the partitions are {', '.join(map(str, partitions))}"
        elif not begins[part] <= offset <= ends[part]:
            reason = f"{here} has offsets from {begins[part]:,} to {ends[part]:,}, not {offset:,}"
        else:
            continue
        raise SourceError(
            f"stream {source.name} cannot start there: {reason}",
            place=source.places.get("start"),
            hint="'earliest' begins with what is there, 'latest' with what comes",
        )
    return {**begins, **given}


def _asked(source: Source, specs: Mapping[int, OffsetSpec]) -> dict[int, int]:
    from confluent_kafka import IsolationLevel, TopicPartition

    topic = str(source.option("topic"))
    is_committed = source.option("isolation") != "read_uncommitted"
    level = IsolationLevel.READ_COMMITTED if is_committed else IsolationLevel.READ_UNCOMMITTED
    with explained(source, f"find offsets in topic {topic}"):
        found = admin_of(source).list_offsets(
            {TopicPartition(topic, part): spec for part, spec in specs.items()},
            isolation_level=level,
            request_timeout=PATIENCE,
        )
        offsets = {asked.partition: int(each.result().offset) for asked, each in found.items()}
    # That is how a request ends whose time is up; -1 is where there is no record of a time.
    if any(offset < -1 for offset in offsets.values()):
        raise SourceError(
            f"cannot find offsets in topic {topic} of stream {source.name}: no answer came",
            place=source.places.get("servers"),
            hint="nothing is lost: once the brokers answer, run again on this checkpoint",
        )
    return offsets
