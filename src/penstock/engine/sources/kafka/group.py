"""The group of a stream: brokers are told how far it was read, for those who look there."""

from __future__ import annotations

import logging

from penstock.engine.sources.kafka.client import admin_of
from penstock.engine.sources.kafka.offsets import Positions
from penstock.query.source import Source

_LOG = logging.getLogger(__name__)
_WAIT = 2.0
"""Seconds that a batch waits for the brokers at the most."""


class Group:
    """Commits offsets for a stream's `group`. Nothing reads them here, and no consumer joins it, so
    that it does not matter whether that works: of the first time that it does not there is a
    warning."""

    def __init__(self, source: Source):
        self._source = source
        self._has_warned = False

    def tell(self, ends: Positions) -> None:
        """Say that all before some offsets has been read."""
        name = self._source.option("group")
        if name is None:
            return
        from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition

        topic = str(self._source.option("topic"))
        reached = [TopicPartition(topic, part, offset) for part, offset in ends.items()]
        try:
            told = admin_of(self._source).alter_consumer_group_offsets(
                [ConsumerGroupTopicPartitions(str(name), reached)], request_timeout=_WAIT
            )
            for future in told.values():
                for each in future.result(_WAIT).topic_partitions:
                    if each.error is not None:
                        raise KafkaException(each.error)
        except (KafkaException, TimeoutError) as error:
            self._warn(str(name), error)

    def _warn(self, name: str, error: Exception) -> None:
        if self._has_warned:
            return
        self._has_warned = True
        told = error.args[0].str() if error.args and hasattr(error.args[0], "str") else ""
        reason = told or "the brokers do not answer"
        _LOG.warning(
            "%s: group %s is not told how far the topic was read: %s; results are right",
            self._source.name,
            name,
            reason,
        )
