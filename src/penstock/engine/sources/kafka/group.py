"""The group of a stream: brokers are told how far it was read, for those who look there."""

from __future__ import annotations

import logging
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any

from penstock.engine.sources.kafka.client import library, settings_of
from penstock.engine.sources.kafka.offsets import Positions
from penstock.query.source import Source

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaError

_LOG = logging.getLogger(__name__)
_WAIT = 2.0
"""Seconds that a batch waits for the brokers at the most."""
_LOOK = 0.005
"""Seconds between two looks at whether they have answered."""


class Group:
    """Commits offsets for a stream's `group`. Nothing reads them here, and no consumer joins it, so
    that it does not matter whether that works: of the first time that it does not there is a
    warning."""

    def __init__(self, source: Source):
        self._source = source
        self._name = source.option("group")
        self._answers = 0
        self._fault: KafkaError | None = None
        self._has_warned = False

    def tell(self, ends: Positions) -> None:
        """Say that all before some offsets has been read."""
        if self._name is None:
            return
        from confluent_kafka import KafkaException, TopicPartition

        topic = str(self._source.option("topic"))
        reached = [TopicPartition(topic, part, offset) for part, offset in ends.items()]
        try:
            # Not by an admin: one whose request times out may end the process.
            self._consumer.commit(offsets=reached, asynchronous=True)
            if not self._is_answered():
                self._warn("the brokers do not answer")
            elif self._fault is not None:
                self._warn(self._fault.str())
        except KafkaException as error:
            self._warn(error.args[0].str())

    @cached_property
    def _consumer(self) -> Consumer:
        settings = settings_of(self._source)
        own = {"group.id": str(self._name), "on_commit": self._answered}
        made: Consumer = library().Consumer({**settings, **own})
        return made

    def _answered(self, error: KafkaError | None, places: list[Any]) -> None:
        faults = [error, *(place.error for place in places)]
        self._fault = next((fault for fault in faults if fault is not None), None)
        self._answers += 1

    def _is_answered(self) -> bool:
        """Wait for the answer, but not for long."""
        before, until = self._answers, time.monotonic() + _WAIT
        while self._answers == before and time.monotonic() < until:
            self._consumer.poll(_LOOK)
        return self._answers > before

    def _warn(self, reason: str) -> None:
        if not self._has_warned:
            told = "%s: group %s is not told how far the topic was read: %s; results are right"
            _LOG.warning(told, self._source.name, self._name, reason)
        self._has_warned = True
