"""Clients of Kafka: how they are set up, and what their errors mean to a user."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

from penstock.errors import SourceError
from penstock.query.source import Source

if TYPE_CHECKING:
    from types import ModuleType

    from confluent_kafka import Consumer
    from confluent_kafka.admin import AdminClient

Value = str | int | float | bool
PATIENCE = 30.0
"""Seconds within which a broker must answer."""
PASSED_ON = "kafka."
"""Options that begin so are the client's own."""
_COMMON: Mapping[str, Value] = {
    "group.id": "penstock",
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "auto.offset.reset": "error",
    "enable.partition.eof": True,
    "check.crcs": True,
    "log_level": 0,
}
"""Positions are in the checkpoint, so no group is joined and nothing is committed."""


def library() -> ModuleType:
    """The client library; an error with the command that installs it where it is missing."""
    try:
        import confluent_kafka
    except ImportError:
        raise SourceError(
            "reading from Kafka needs confluent-kafka, which is not installed",
            hint="python -m pip install 'penstock[kafka]'",
        ) from None
    module: ModuleType = confluent_kafka
    return module


def settings_of(source: Source) -> dict[str, Value]:
    """The settings of a source's clients: ours, under those that the user passes on."""
    own = {
        name.removeprefix(PASSED_ON): value
        for name, value in source.options
        if name.startswith(PASSED_ON)
    }
    isolation = str(source.option("isolation") or "read_committed")
    servers = str(source.option("servers"))
    return {**_COMMON, "isolation.level": isolation, **own, "bootstrap.servers": servers}


def consumer_of(source: Source) -> Consumer:
    """The consumer of this process for a source's brokers, which tasks use one after another."""
    return _consumer(tuple(sorted(settings_of(source).items())), os.getpid())


@lru_cache(maxsize=8)
def _consumer(settings: tuple[tuple[str, Value], ...], _pid: int) -> Consumer:
    found: Consumer = library().Consumer(dict(settings))
    return found


def admin_of(source: Source) -> AdminClient:
    """The client of this process that asks a source's brokers about topics."""
    ignored = {*_COMMON, "isolation.level"} - {"log_level"}
    asked = {name: value for name, value in settings_of(source).items() if name not in ignored}
    return _admin(tuple(sorted(asked.items())), os.getpid())


@lru_cache(maxsize=8)
def _admin(settings: tuple[tuple[str, Value], ...], _pid: int) -> AdminClient:
    library()
    from confluent_kafka.admin import AdminClient

    return AdminClient(dict(settings))


@contextmanager
def explained(source: Source, what: str) -> Iterator[None]:
    """Errors of the client as errors of the source, while it does something."""
    library()
    from confluent_kafka import KafkaException

    try:
        yield
    except KafkaException as error:
        servers = source.option("servers")
        reason = error.args[0].str() if error.args else str(error)
        raise SourceError(
            f"cannot {what} of stream {source.name} at {servers}: {reason}",
            place=source.places.get("servers"),
            hint="nothing is lost: once the brokers answer, run again on this checkpoint",
        ) from None
