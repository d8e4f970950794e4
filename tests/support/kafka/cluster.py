"""A made-up cluster: that of librdkafka itself, which listens on a port of this machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from confluent_kafka import Producer


class Cluster:
    """One broker, for as long as this object lives; topics appear when they are written to."""

    def __init__(self) -> None:
        self._producer = Producer({"test.mock.num.brokers": 1, "log_level": 0})
        brokers = self._producer.list_topics(timeout=10).brokers.values()
        self.servers = ",".join(f"{each.host}:{each.port}" for each in brokers)

    def send(self, topic: str, part: int, *values: Mapping[str, Any] | bytes | None) -> None:
        """Write records, of which those that are no bytes are JSON."""
        for value in values:
            data = json.dumps(value).encode() if isinstance(value, Mapping) else value
            self._producer.produce(topic, value=data, partition=part)
        assert self._producer.flush(10) == 0
