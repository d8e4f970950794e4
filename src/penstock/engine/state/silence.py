"""Silence: which streams have sent nothing for so long that the others go on without them."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Mapping

from penstock.engine.state.frontier import Reading, frontier_of, names_of, part_name
from penstock.engine.state.manifest import StreamState
from penstock.engine.state.store import Store
from penstock.query.source import Source


class Silence:
    """Remembers when each source was last heard of, on the clock of this process."""

    def __init__(self, store: Store, streams: Mapping[str, Iterable[str]]):
        """Of each source the partitions that are known by now."""
        self._store = store
        self._parts = {
            part_name(name, part): name for name, parts in streams.items() for part in parts
        }
        self.last_seen = dict.fromkeys([*streams, *self._parts], time.monotonic())

    def decide(self, number: int, sources: Iterable[Source]) -> frozenset[str]:
        """The sources that have been silent for longer than their `idle` time.

        Decided once a batch and written down, so that a batch that is run again decides the same.
        """
        patient = self._patience(sources)
        if not patient:
            return frozenset()
        name = decision_name(number)
        if not self._store.exists(name):
            self._store.publish(name, json.dumps(self._silent(patient)).encode())
        return frozenset(json.loads(bytes(self._store.read(name))))

    def rises(self, sources: Collection[Source], streams: Mapping[str, StreamState]) -> bool:
        """Whether a batch would move the frontier of a query that reads these sources, although
        nothing has come: others have waited long enough for those that are silent by now."""
        patient = self._patience(sources)
        silent = frozenset(self._silent(patient)) if patient else frozenset[str]()
        return bool(silent) and (
            frontier_of(sources, streams, silent) > frontier_of(sources, streams)
        )

    def _patience(self, sources: Iterable[Source]) -> dict[str, int]:
        """How long each source and partition is waited for, of those that are not for ever."""
        patient = {s.name: s.idle for s in sources if s.idle is not None}
        return patient | {
            part: patient[source] for part, source in self._parts.items() if source in patient
        }

    def _silent(self, patient: Mapping[str, int]) -> list[str]:
        now = time.monotonic()
        return [s for s, idle in patient.items() if (now - self.last_seen[s]) * 1e6 > idle]

    def hear(self, readings: Iterable[Reading]) -> None:
        """Take in what a batch has read."""
        now = time.monotonic()
        for reading in readings:
            source, *parts = names_of(reading) or (reading.source,)
            self.last_seen |= dict.fromkeys(names_of(reading), now)
            self._parts |= dict.fromkeys(parts, source)


def decision_name(number: int) -> str:
    """The file that says which sources a batch does not wait for."""
    return f"decisions/{number:012d}.json"
