"""Sinks as users write them: `parquet:DIR`, `jsonl:PATH`, `kafka:SERVERS/TOPIC`, `console`, `noop`,
or a function."""

from __future__ import annotations

from difflib import get_close_matches
from typing import get_args

from penstock.engine.sinks.kafka.topic import Topic
from penstock.engine.sinks.sink import Kind, Sink, console, foreach_batch, jsonl, noop, parquet
from penstock.errors import SinkError

SINKS_HINT = "a sink is parquet:DIR, jsonl:PATH, kafka:SERVERS/TOPIC, console or noop"
_PYTHON_HINT = f"{SINKS_HINT}, as a text or made by ps.parquet(…) and the like, or a function"


def sink_of(given: object) -> Sink:
    """The sink of a text; sinks stay as they are, and functions get each batch."""
    if isinstance(given, Sink) and given.kind in get_args(Kind):
        return given
    if isinstance(given, str):
        return _named(given)
    if callable(given) and not isinstance(given, type):
        return foreach_batch(given)
    raise SinkError(f"{given!r} is not a sink", hint=_PYTHON_HINT)


def _named(text: str) -> Sink:
    kind, _, path = text.partition(":")
    match kind.strip(), path.strip():
        case "parquet", path if path:
            return parquet(path)
        case "jsonl", path if path:
            return jsonl(path)
        case "kafka", address if address:
            return Sink("kafka", topic=Topic.of(address))
        case "console", "":
            return console()
        case "noop", "":
            return noop()
    raise SinkError(f"{text!r} is not a sink", hint=_meant(kind.strip(), path) + SINKS_HINT)


def _meant(kind: str, path: str) -> str:
    """The sink that may have been meant, as it is written; empty if none is near."""
    near = get_close_matches(kind.lower(), get_args(Kind), n=1)
    if not near or near[0] == kind:
        return ""
    return f"did you mean {near[0]}{':' + path if path else ''}? "
