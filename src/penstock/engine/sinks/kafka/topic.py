"""Topics as sinks: `SERVERS/TOPIC?config=FILE`, and the settings of clients in such a file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from penstock.errors import SinkError

TOPIC_HINT = "a topic is written kafka:SERVERS/TOPIC, as in kafka:localhost:9092/results"
_CONFIG = "config="
_LEGAL = re.compile(r"[A-Za-z0-9._-]{1,249}")
OWN = ("bootstrap.servers", "transactional.id", "enable.idempotence", "isolation.level")
"""Settings that a sink needs as they are."""


@dataclass(frozen=True)
class Topic:
    """A topic at some brokers. `config` is the path of a file with settings of clients; what is in
    that file, such as passwords, is told to the clients and to nobody else."""

    servers: str
    name: str
    config: str | None = field(default=None, compare=False)

    @classmethod
    def of(cls, text: str) -> Topic:
        """The topic of an address."""
        address, mark, option = text.partition("?")
        servers, _, name = address.rpartition("/")
        if mark and not (option.startswith(_CONFIG) and option.removeprefix(_CONFIG)):
            raise SinkError(
                f"kafka:{address} has no such option: {option.partition('=')[0]}",
                hint="?config=FILE names a file with the settings of Kafka's clients",
            )
        return cls.made(servers.strip(), name.strip(), option.removeprefix(_CONFIG) or None)

    @classmethod
    def made(cls, servers: str, name: str, config: str | None) -> Topic:
        """The topic of checked parts."""
        if not servers or "/" in servers:
            raise SinkError(f"kafka:{servers}/{name} names no brokers", hint=TOPIC_HINT)
        if not _LEGAL.fullmatch(name) or name in (".", ".."):
            raise SinkError(f"{name!r} is no name of a topic", hint=TOPIC_HINT)
        return cls(servers, name, None if config is None else os.path.abspath(config))

    def __str__(self) -> str:
        return f"{self.servers}/{self.name}"

    @property
    def text(self) -> str:
        """A text that gives this topic again, in any process."""
        return f"{self}?{_CONFIG}{self.config}" if self.config else str(self)

    def settings(self) -> Mapping[str, str]:
        """The settings in the file, by name."""
        return {} if self.config is None else dict(_read(self.config))


def _read(path: str) -> Iterator[tuple[str, str]]:
    """The settings of a file of lines `name=value`; errors never show a value."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise _unusable(path, f"cannot be read: {reason}") from None
    for number, line in enumerate(lines, 1):
        name, equals, value = (part.strip() for part in line.partition("="))
        if not line.strip() or line.lstrip().startswith(("#", "!")):
            continue
        if not (name and equals):
            raise _unusable(path, f"line {number} is not name=value")
        if name in OWN:
            raise _unusable(path, f"line {number} sets {name}, which a sink sets itself")
        yield name, value


def _unusable(path: str, reason: str) -> SinkError:
    return SinkError(
        f"the settings of Kafka's clients in {path}: {reason}",
        hint="a line for each, as in security.protocol=SASL_SSL; # begins a remark",
    )
