"""Clients of a topic that results go to, and what their errors mean to a user."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from penstock.engine.sinks.kafka.topic import Topic
from penstock.engine.sources.kafka.client import PATIENCE
from penstock.errors import SinkError

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaError, Message, Producer
    from confluent_kafka.admin import AdminClient

PREFIX = "penstock-"
"""How the transactional ids of all checkpoints begin, for those who grant rights."""
_TRANSACTION = 300_000
"""Milliseconds that a transaction may take; one whose run was killed ends with the next run."""
_SHORTEST_SECRET = 4
AGAIN = "nothing is lost: mend that, then run again on this checkpoint"


@dataclass(frozen=True)
class Clients:
    """Makes clients with the settings of a topic, which are read once."""

    topic: Topic

    @cached_property
    def _settings(self) -> Mapping[str, Any]:
        own = {"bootstrap.servers": self.topic.servers, "error_cb": self._noted}
        return {"log_level": 0, **self.topic.settings(), **own}

    @cached_property
    def refusals(self) -> list[KafkaError]:
        """What brokers have refused clients for: their passwords, their certificates."""
        return []

    def _noted(self, error: KafkaError) -> None:
        if error.name() in ("_AUTHENTICATION", "_SSL"):
            self.refusals.append(error)

    @cached_property
    def admin(self) -> AdminClient:
        """The client that is asked about offsets."""
        with self.explained("use"):
            from confluent_kafka.admin import AdminClient

            return AdminClient(dict(self._settings))

    def consumer(self) -> Consumer:
        """A client that reads what is committed, from given positions."""
        with self.explained("read"):
            from confluent_kafka import Consumer

            own = {
                "group.id": "penstock",
                "enable.auto.commit": False,
                "auto.offset.reset": "error",
                "enable.partition.eof": True,
                "isolation.level": "read_committed",
                # What it is to read is there: at the end brokers need not wait for more.
                "fetch.wait.max.ms": 20,
            }
            return Consumer({**self._settings, **own})

    def producer(self, name: str, refused: Callable[[KafkaError, Message], None]) -> Producer:
        """The one producer of a name: what others of that name have begun is aborted, and they can
        write no more. A function is told of records that are refused."""
        with self.explained("write to"):
            from confluent_kafka import Producer

            own = {"transactional.id": f"{PREFIX}{name}", "enable.idempotence": True}
            # As Java's clients do, so that equal keys of other topics are in equal partitions.
            usual = {"partitioner": "murmur2_random", "transaction.timeout.ms": _TRANSACTION}
            told = {"on_delivery": refused, "delivery.report.only.error": True}
            made = Producer({**usual, **self._settings, **own, **told})
            made.init_transactions(PATIENCE)
            return made

    @contextmanager
    def explained(self, what: str) -> Iterator[None]:
        """Errors of clients as errors of the sink, while they do something with the topic."""
        try:
            import confluent_kafka
        except ImportError:
            raise SinkError(
                "writing to Kafka needs confluent-kafka, which is not installed",
                hint="python -m pip install 'penstock[kafka]'",
            ) from None
        try:
            yield
        except confluent_kafka.KafkaException as error:
            raise self.failed(what, error.args[0]) from None

    def failed(self, what: str, error: KafkaError) -> SinkError:
        """An error of a client, without the settings that it may show."""
        reason = str(error.str() or error.name())
        for value in self.topic.settings().values():
            if len(value) >= _SHORTEST_SECRET:
                reason = reason.replace(value, "***")
        topic = self.topic
        return SinkError(
            f"cannot {what} topic {topic.name} at {topic.servers}: {reason}", hint=_hint(error)
        )


def _hint(error: KafkaError) -> str:
    """What may be done about an error."""
    match error.name():
        case name if name.endswith("AUTHORIZATION_FAILED"):
            return (
                "the user needs the rights to describe, read and write the topic, and to write "
                f"with transactional ids that begin with {PREFIX}; then run again"
            )
        case "_FENCED" | "PRODUCER_FENCED" | "INVALID_PRODUCER_EPOCH":
            return (
                "another run has taken over, and two must not share a checkpoint; "
                "or it took longer than transaction.timeout.ms allows"
            )
        case "MSG_SIZE_TOO_LARGE":
            return f"a result is larger than message.max.bytes allows; {AGAIN}"
        case "_AUTHENTICATION" | "_SSL":
            return f"look into the file of config: user, password, certificates; {AGAIN}"
        case "_INVALID_ARG":
            return "a setting is wrong: look into the file of config"
        case "_TRANSPORT" | "_TIMED_OUT" | "_ALL_BROKERS_DOWN" | "_RESOLVE":
            return "nothing is lost: once the brokers answer, run again on this checkpoint"
    return AGAIN
