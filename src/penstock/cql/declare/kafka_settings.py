"""Settings of Kafka's client that a stream passes on: `'kafka.…' = …`, but for those we decide."""

from __future__ import annotations

import os
from collections.abc import Mapping

from penstock.query.secret import Secret, is_reference, is_secret_name

PREFIX = "kafka."
"""What the names of options begin with that are the client's own."""
_OURS: Mapping[str, str] = {
    "metadata.broker.list": "write servers = 'host:9092'",
    "isolation.level": "write isolation = 'read_committed' or 'read_uncommitted'",
    "auto.offset.reset": "write start = 'earliest' or 'latest'",
    "group.id": "no group is joined: positions are in the checkpoint",
    "group.instance.id": "no group is joined: positions are in the checkpoint",
    "group.protocol": "no group is joined: positions are in the checkpoint",
    "enable.auto.commit": "nothing is committed: positions are in the checkpoint",
    "auto.commit.interval.ms": "nothing is committed: positions are in the checkpoint",
    "auto.commit.enable": "nothing is committed: positions are in the checkpoint",
    "enable.auto.offset.store": "nothing is committed: positions are in the checkpoint",
    "offset.store.method": "nothing is committed: positions are in the checkpoint",
    "enable.partition.eof": "leave it out: by it the end of a slice is found",
    "check.crcs": "leave it out: records are always checked",
    "transactional.id": "leave it out: a stream only reads",
    "enable.idempotence": "leave it out: a stream only reads",
    "key.deserializer": "declare a column kafka_key STRING",
    "value.deserializer": "write value = 'json', 'csv' or 'avro'",
    "interceptor.classes": "leave it out: the client is not Java's",
    "sasl.jaas.config": "write 'kafka.sasl.username' and 'kafka.sasl.password' instead",
    "ssl.truststore.location": "write 'kafka.ssl.ca.location', a file of certificates in PEM",
    "ssl.truststore.password": "write 'kafka.ssl.ca.location', a file of certificates in PEM",
    "ssl.truststore.type": "write 'kafka.ssl.ca.location', a file of certificates in PEM",
}
"""Settings that a stream cannot pass on, and what to do instead."""


def refused(name: str) -> str | None:
    """What to do instead of passing a setting on; None if it may be."""
    return _OURS.get(name.removeprefix(PREFIX))


def passed_on(name: str, value: str | int | float | bool) -> str | Secret:
    """The value of a setting as the client takes it; a secret if its name says so.

    A ValueError says what it must be.
    """
    if is_secret_name(name) and not isinstance(value, str):
        raise ValueError("text in single quotes")
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if is_reference(text):
        _check_reference(text)
        return text
    return Secret(text) if is_secret_name(name) else text


def _check_reference(text: str) -> None:
    kind, _, rest = text.partition(":")
    if not rest:
        raise ValueError(f"'{kind}:{'NAME' if kind == 'env' else 'PATH'}'")
    if kind == "file" and not os.path.isabs(rest):
        hint = "workers run in folders of their own: write the path from / on"
        raise ValueError("a file with its whole path", hint)
