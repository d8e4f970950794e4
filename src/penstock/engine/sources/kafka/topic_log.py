"""The log of a topic in the checkpoint: which records each batch reads, partition by partition."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from penstock.engine.sources.kafka.group import Group
from penstock.engine.sources.kafka.offsets import (
    Positions,
    begins_of,
    ends_of,
    partitions_of,
    start_of,
    topic_id_of,
)
from penstock.engine.sources.kafka.schema_log import kept_schema
from penstock.engine.sources.slices import Slice
from penstock.engine.state.frontier import part_name
from penstock.engine.state.store import RESTORE, Store
from penstock.errors import CheckpointError, SourceError
from penstock.query.source import SCHEMA_TEXT, Source

_BATCH_RECORDS = 2_000_000
"""Records that a batch takes, if nothing is said."""
SLICE_RECORDS = 50_000
"""Records that one task reads at the most, so that more tasks than partitions can work."""
_KEPT = 100
"""Entries before the last that stay, for a checkpoint that is set back a little."""


@dataclass(frozen=True)
class Entry:
    """What is read next of a topic: of each partition the offsets from `first` to before `end`, and
    when that was found out, seconds since the epoch. `topic` tells it from others of its `name`."""

    first: Positions
    end: Positions
    found: float
    topic: str | None = None
    name: str | None = None

    @property
    def records(self) -> int:
        """How many offsets that are; with gaps there are fewer records."""
        return sum(self.end[part] - self.first[part] for part in self.end)

    def to_json(self) -> bytes:
        """As its file has it."""
        return json.dumps(vars(self)).encode()

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Entry:
        """The entry in a file."""
        first, end = (
            {int(part): int(offset) for part, offset in data[name].items()}
            for name in ("first", "end")
        )
        topic = data.get("topic")
        name = data.get("name")
        return cls(
            first,
            end,
            float(data["found"]),
            None if topic is None else str(topic),
            None if name is None else str(name),
        )


class TopicLog:
    """The entries of a topic. An offset of the feed counts them; entry 0 is where it started.

    An entry is written before anybody uses it, so that a batch that is run again reads the same.
    """

    def __init__(self, source: Source, store: Store, folder: str):
        self.source = source
        self._store = store
        self._folder = folder
        self._limit: Positions | None = None
        self._schema = kept_schema(source, store, folder)
        self._group = Group(source)
        self._entries = dict(self._load())
        if not self._entries:
            start = start_of(source, partitions_of(source))
            self._add(0, Entry(start, start, time.time(), topic_id_of(source), self._name))
        self._refuse_other()
        # Of another topic not even what was found before could be read.
        self._known(topic_id_of(source))

    @property
    def _name(self) -> str:
        return str(self.source.option("topic"))

    def _refuse_other(self) -> None:
        """Refuse a topic of another name: offsets that were read of one say nothing of it."""
        before = self._entries[self.last].name
        if before is not None and before != self._name:
            raise CheckpointError(
                f"stream {self.source.name} has read topic {before} on this checkpoint, and is to "
                f"read {self._name} now",
                hint="run the query on a new checkpoint, or read the topic that it has begun with",
            )

    @property
    def last(self) -> int:
        """The number of the last entry."""
        return max(self._entries)

    def freeze(self) -> None:
        """Read no more than what is there now."""
        self._limit = ends_of(self.source, partitions_of(self.source))

    def find(self, done: int) -> int:
        """The entry to read next, which is added if there is something new; or the last one."""
        if self.last == done:
            entry = self._next()
            if entry.records:
                self._add(self.last + 1, entry)
                self._forget()
        return min(done + 1, self.last)

    def found(self, number: int) -> float:
        """When the records of an entry were found, seconds since the epoch."""
        return self._entries[number].found

    def passed(self, number: int) -> None:
        """Tell the stream's group that all up to an entry has been read."""
        if number in self._entries:
            self._group.tell(self._entries[number].end)

    def unread(self, done: int) -> int:
        """The records that are there and not read, of those partitions that are known by now."""
        known = self._entries[self.last].end
        ends = ends_of(self.source, [*known]) if self._limit is None else self._limit
        new = sum(max(ends[part] - at, 0) for part, at in known.items() if part in ends)
        return new + sum(entry.records for n, entry in self._entries.items() if n > done)

    def slices(self, done: int, last: int) -> Iterator[Slice]:
        """The pieces of the entries after one, up to another."""
        for number in range(done + 1, last + 1):
            entry = self._entries[number]
            for part, end in entry.end.items():
                for first in range(entry.first[part], end, SLICE_RECORDS):
                    until = min(first + SLICE_RECORDS, end)
                    yield Slice(
                        self.source.name,
                        number=part,
                        first=first,
                        last=until,
                        is_of_topic=True,
                        schema=self._schema if self.source.option(SCHEMA_TEXT) is None else None,
                    )

    def _next(self) -> Entry:
        entry = self._unlimited()
        if self._limit is not None:
            ends = {p: min(e, self._limit.get(p, entry.first[p])) for p, e in entry.end.items()}
            entry = replace(entry, end={p: max(e, entry.first[p]) for p, e in ends.items()})
        return _shortened(entry, int(self.source.option("max_rows") or _BATCH_RECORDS))

    def _unlimited(self) -> Entry:
        """All that is there after the last entry."""
        topic = topic_id_of(self.source)
        known = self._known(topic)
        partitions = partitions_of(self.source)
        begins, ends = begins_of(self.source, partitions), ends_of(self.source, partitions)
        self._refuse_lost(known, partitions)
        first = {p: self._first(p, known.get(p), begins[p], ends[p]) for p in partitions}
        end = {p: max(first[p], ends[p]) for p in partitions}
        return Entry(first, end, time.time(), topic, self._name)

    def _known(self, topic: str | None) -> Positions:
        """How far the topic has been read; not at all if it is another one by now."""
        last = self._entries[self.last]
        if None in (topic, last.topic) or topic == last.topic:
            return last.end
        name = self.source.option("topic")
        self._lose(f"topic {name} is not the one that was read before: it was made anew")
        return {}

    def _first(self, part: int, known: int | None, begin: int, end: int) -> int:
        """Where a partition goes on; a new one begins at its beginning."""
        if known is None:
            return begin
        if begin <= known <= end:
            return known
        what = "have expired" if known < begin else "are gone: it was made anew, or cut off"
        here = f"{self.source.option('topic')}[{part}]"
        self._lose(f"the records of {here} after {known:,} {what}")
        return begin if known < begin else end

    def _refuse_lost(self, known: Positions, partitions: list[int]) -> None:
        lost = sorted(set(known) - set(partitions))
        if lost:
            topic = str(self.source.option("topic"))
            names = ", ".join(part_name(topic, str(part)) for part in lost)
            self._lose(f"{names} are not there any more")

    def _lose(self, what: str) -> None:
        """An error, unless the source may skip what is lost."""
        if self.source.option("data_loss") != "skip":
            raise SourceError(
                f"stream {self.source.name}: {what}",
                place=self.source.places.get("topic"),
                hint="data_loss = 'skip' goes on with what is there",
            )

    def _add(self, number: int, entry: Entry) -> None:
        self._store.publish(f"{self._folder}/{number:012d}.json", entry.to_json())
        self._entries[number] = entry

    def _forget(self) -> None:
        old = [number for number in self._entries if number < self.last - _KEPT]
        self._store.remove([f"{self._folder}/{number:012d}.json" for number in old])
        for number in old:
            del self._entries[number]

    def _load(self) -> Iterator[tuple[int, Entry]]:
        for name in sorted(self._store.names(self._folder)):
            number = name.rsplit("/", 1)[-1].removesuffix(".json")
            if not number.isdigit():
                continue
            try:
                yield int(number), Entry.of(json.loads(bytes(self._store.read(name))))
            except (ValueError, TypeError, KeyError) as error:
                path = self._store.path(name)
                raise CheckpointError(f"{path} is damaged: {error}", hint=RESTORE) from None


def _shortened(entry: Entry, most: int) -> Entry:
    """An entry with so many records at the most, of each partition its part: so that none is left
    behind by the others."""
    if entry.records <= most:
        return entry
    share = most / entry.records
    end = {
        part: first + max(int(share * (entry.end[part] - first)), min(1, entry.end[part] - first))
        for part, first in entry.first.items()
    }
    return replace(entry, end=end)
