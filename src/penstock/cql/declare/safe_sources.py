"""Safe sources: those of a script that nobody vouches for read and write below given folders.

Whoever runs the script is trusted with what is in these folders; the script is not trusted with
anything else: not with other files, not with what the process knows, not with code of others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from penstock.cql.declare.given import Allowed
from penstock.errors import SqlError
from penstock.query.secret import Secret, is_reference
from penstock.query.source import Source

# Settings of Kafka's client that neither run anything nor name a file.
_HARMLESS = re.compile(
    r"security\.protocol|sasl\.mechanisms?|sasl\.username|sasl\.password|client\.(id|rack)"
    r"|fetch\.[a-z.]+|queued\.[a-z.]+|socket\.[a-z.]+|reconnect\.[a-z.]+|message\.max\.bytes"
)


def refuse_unsafe(source: Source, roots: Allowed) -> None:
    """Nothing, if a source stays below the roots and runs nothing of others."""
    if source.reader is not None:
        message = f"{source.name} is read by Spark's {source.reader}, which a safe run cannot watch"
        raise _at(source, "format", message, "copy its rows to files, and read these")
    for option, path in _paths(source):
        stray = roots.stray(path)
        if stray is not None:
            message = f"{stray} is not in a folder that a safe run may touch"
            raise _at(source, option, message, f"these are {roots}: see --root")
    for name, value in source.client:
        text = value.reveal() if isinstance(value, Secret) else value
        if is_reference(text) or not _HARMLESS.fullmatch(name):
            message = f"a safe run does not pass kafka.{name} on to Kafka's client"
            raise _at(source, f"kafka.{name}", message, "leave it out, or run without --safe")


def _paths(source: Source) -> Iterator[tuple[str, str]]:
    """The files that a declaration names, each with its option."""
    if source.path is not None:
        yield "path", source.path
    if source.keeps_malformed_at is not None:
        yield "malformed", source.keeps_malformed_at
    if source.option("schema") is not None:
        yield "schema", str(source.option("schema"))


def _at(source: Source, option: str, message: str, hint: str) -> SqlError:
    place = source.places.get(option) or source.places.get("name")
    return SqlError(message, place=place, hint=hint)
