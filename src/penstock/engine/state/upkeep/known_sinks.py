"""Known sinks: where a checkpoint has begun to write results, so that it may go on there whenever
it is given that sink again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass

from penstock.engine.state.store import RESTORE, Store
from penstock.errors import CheckpointError

_NAME = "sinks.json"


@dataclass(frozen=True)
class KnownSink:
    """A sink by its name: the last batch before results went there, and the length that a file of
    lines had by then; `end` is the one that it had when another sink was given."""

    sink: str
    batch: int
    length: int = 0
    end: int | None = None


def known_sinks(store: Store) -> tuple[KnownSink, ...]:
    """All sinks that a checkpoint has been given."""
    if not store.exists(_NAME):
        return ()
    try:
        return tuple(KnownSink(**each) for each in json.loads(bytes(store.read(_NAME))))
    except (ValueError, TypeError) as error:
        raise CheckpointError(f"{store.path(_NAME)} is damaged: {error}", hint=RESTORE) from None


def enter_sink(store: Store, given: KnownSink, is_same: Callable[[str], bool]) -> None:
    """Remember a sink before results go there; `is_same` tells its other names."""
    others = [each for each in known_sinks(store) if not is_same(each.sink)]
    if (*others, given) != known_sinks(store):
        data = json.dumps([asdict(each) for each in (*others, given)])
        store.replace(_NAME, data.encode())
