"""Clients of Kafka: how they are set up, and what their errors mean to a user."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

from penstock.errors import Caret, SourceError
from penstock.query.secret import Secret, is_reference, is_secret_name, looked_up
from penstock.query.source import Source

if TYPE_CHECKING:
    from types import ModuleType

    from confluent_kafka import Consumer
    from confluent_kafka.admin import AdminClient

Value = str | int | float | bool
PATIENCE = 30.0
"""Seconds within which a broker must answer."""
_COMMON: Mapping[str, Value] = {
    "group.id": "penstock",
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "auto.offset.reset": "error",
    "enable.partition.eof": True,
    "check.crcs": True,
    "fetch.wait.max.ms": 20,
    "fetch.queue.backoff.ms": 1,
    "queued.min.messages": 1_000,
    "log_level": 0,
}
"""Positions are in the checkpoint, so no group is joined and nothing is committed. What is asked
for is there already, so that nothing is gained by waiting for more. What lies beyond a slice is
fetched for nothing: records are asked for once those before them are taken, and soon then."""

_HINT = "nothing is lost: mend that, or once the brokers answer, run again on this checkpoint"


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
    """The settings of a source's clients: ours, and those that the user passes on."""
    isolation = str(source.option("isolation") or "read_committed")
    servers = str(source.option("servers"))
    own = {name: _value(source, name, value) for name, value in source.client}
    return {**_COMMON, **own, "isolation.level": isolation, "bootstrap.servers": servers}


def _value(source: Source, name: str, value: str | Secret) -> str:
    """The value of a setting, which may have to be looked up here; an error if it is nowhere."""
    place = source.places.get(f"kafka.{name}")
    if isinstance(value, Secret):
        if value.is_missing:
            raise SourceError(
                f"stream {source.name}: the value of kafka.{name} is missing",
                place=place,
                hint="a password is not kept with its query: run the query's own text, "
                f"or write 'kafka.{name}' = 'env:NAME' there",
            )
        return value.reveal()
    if not is_reference(value):
        return value
    try:
        return looked_up(value)
    except ValueError as error:
        raise SourceError(
            f"stream {source.name}: kafka.{name} is not here: {error}",
            place=place,
            hint="whoever reads the topic needs it: the driver, and every worker",
        ) from None


def consumer_of(source: Source) -> Consumer:
    """The consumer of this process for a source's brokers, which tasks use one after another."""
    settings = settings_of(source)
    with explained(source, "make a client"):
        return _consumer(tuple(sorted(settings.items())), os.getpid())


@lru_cache(maxsize=8)
def _consumer(settings: tuple[tuple[str, Value], ...], _pid: int) -> Consumer:
    found: Consumer = library().Consumer(dict(settings))
    return found


def admin_of(source: Source) -> AdminClient:
    """The client of this process that asks a source's brokers about topics."""
    ignored = {*_COMMON, "isolation.level"} - {"log_level"}
    asked = {name: value for name, value in settings_of(source).items() if name not in ignored}
    with explained(source, "make a client"):
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
        reason = error.args[0].str() if error.args else str(error)
        raise SourceError(
            f"cannot {what} of stream {source.name} at {source.option('servers')}: "
            f"{_without_secrets(source, reason)}",
            place=_blamed(source, reason),
            hint=_HINT,
        ) from None


def _blamed(source: Source, reason: str) -> Caret | None:
    """The option that a reason tells of; where it names none, the servers."""
    named = (f"kafka.{name}" for name, _ in source.client if name in reason)
    return source.places.get(next(named, "servers"))


def _without_secrets(source: Source, reason: str) -> str:
    """A reason of the client, which may quote what it was given."""
    for name, value in source.client:
        if is_secret_name(name) and (said := _value(source, name, value)):
            reason = reason.replace(said, "***")
    return reason
