"""The tuples of a workload as records of topics, in the order of their times."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa

from penstock.bench.data import read_stream
from penstock.bench.workload import ALIASES, Workload
from penstock.errors import SetupError

BROKERS = "PENSTOCK_KAFKA"
"""The environment variable that names the brokers, `host:9092`."""
CONNECTOR = "PENSTOCK_KAFKA_JARS"
"""The environment variable that names the jars of Spark's connector, separated by commas."""
NO_BROKERS = f"set {BROKERS} to the brokers of a real cluster: the made-up one holds too little"
NO_CONNECTOR = f"set {CONNECTOR} to the jars of Spark's connector (spark-sql-kafka-0-10)"
PARTITIONS = 2
_FLUSH_SECONDS = 60.0


def fill_topics(workload: Workload, folder: Path, servers: str) -> str:
    """Write topics A, B and C; what their names begin with."""
    try:
        from confluent_kafka import Producer
    except ImportError:
        hint = "python -m pip install 'penstock[kafka]'"
        raise SetupError("the client for Kafka is not installed", hint=hint) from None
    prefix = f"penstock-bench-{uuid4().hex[:8]}-"
    producer = Producer(
        {"bootstrap.servers": servers, "linger.ms": 50, "queue.buffering.max.messages": 200_000}
    )
    for alias in ALIASES:
        for number, record in enumerate(_records(workload, folder, alias)):
            _send(producer, f"{prefix}{alias}", number % PARTITIONS, record)
        if producer.flush(_FLUSH_SECONDS):
            hint = "are they up, and may topics be made by writing to them?"
            raise SetupError(f"the brokers {servers} did not take the records", hint=hint)
    return prefix


def _send(producer: Any, topic: str, part: int, record: bytes) -> None:
    """Hand a record over; where the queue is full, wait for it."""
    while True:
        try:
            producer.produce(topic, value=record, partition=part)
            producer.poll(0)
            return
        except BufferError:
            producer.poll(1.0)


def _records(workload: Workload, folder: Path, alias: str) -> Iterator[bytes]:
    for table in read_stream(folder, alias):
        texts = table.column("ts").cast(pa.timestamp("us")).cast(pa.string())
        columns = {"ts": texts.to_pylist()}
        columns |= {name: table.column(name).to_pylist() for name in (*workload.keys, "x")}
        for values in zip(*columns.values(), strict=True):
            yield json.dumps(dict(zip(columns, values, strict=True))).encode()


def brokers() -> str | None:
    """The brokers that were named, if any."""
    return os.environ.get(BROKERS) or None


def connector() -> str | None:
    """The jars of Spark's connector that were named, if any."""
    return os.environ.get(CONNECTOR) or None
