"""The feed: which pieces of the sources make up the next batch, the same again after a crash."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.duration import MICROS
from penstock.engine.sources.files import absolute, weight_of
from penstock.engine.sources.listing.file_log import FileLog, log_folder
from penstock.engine.sources.made.made import Made, made_of
from penstock.engine.sources.slices import Slice, shared_out
from penstock.engine.sources.table_versions import TableVersions
from penstock.engine.state.store import Store
from penstock.errors import SourceError
from penstock.query.source import FILE_FORMATS, MADE_FORMATS, Source

if TYPE_CHECKING:
    from penstock.engine.sources.kafka.topic_log import TopicLog

Offsets = Mapping[str, int]

# What the clock showed, among the offsets of a batch: no stream has such a name.
_CLOCK = "#clock"
_LOG = logging.getLogger(__name__)
BATCH_BYTES = 128 << 20
"""Bytes of text that a batch takes of each stream, if nothing is said: a join needs about seven
bytes of memory for each."""
SPLIT_BYTES = 64 << 20
"""Bytes of text above which a batch that was killed may have been too much."""
ROW_BYTES = 64
"""Bytes that a row of a stream that is made up stands for, about."""


@dataclass(frozen=True)
class Pace:
    """When an endless stream that is made up was first started, as seconds since the epoch."""

    started: float

    @classmethod
    def of(cls, store: Store) -> Pace:
        """The pace that a checkpoint remembers, or one that starts now."""
        name = "sources/started.json"
        if not store.exists(name):
            store.publish(name, json.dumps(time.time()).encode())
        return cls(json.loads(bytes(store.read(name))))


@dataclass(frozen=True)
class Serving:
    """The slices that a batch reads, and where the sources stand afterwards.

    `oldest` is when the oldest of them could first be read, seconds since the epoch; None where
    nobody waited for it; `clock` is what the clock showed when the batch was put together,
    microseconds since the epoch.
    """

    slices: tuple[Slice, ...]
    offsets: Offsets
    oldest: float | None = None
    clock: int | None = None


class Feed:
    """Hands out the pieces of all sources of a query, batch by batch."""

    def __init__(
        self,
        sources: Iterable[Source],
        store: Store,
        columns: Mapping[str, Collection[str]] | None = None,
    ):
        """The feed of a checkpoint; `columns` are those that are read of tables that change."""
        self._store = store
        self._sources = {source.name: absolute(source) for source in sources}
        files = [s for s in self._sources.values() if s.format in FILE_FORMATS]
        self._logs = {s.name: FileLog(s, store) for s in files if s.refresh is None}
        self._tables = {
            s.name: TableVersions(s, store, (columns or {}).get(s.name))
            for s in files
            if s.refresh is not None
        }
        topics = [s for s in self._sources.values() if s.format == "kafka"]
        self._topics = {source.name: _topic(source, store) for source in topics}
        made = [s for s in self._sources.values() if s.format in MADE_FORMATS]
        self._made = {source.name: made_of(source) for source in made}
        self._pace = Pace.of(store) if made else None
        self._is_frozen = self._is_at_once = False
        self._begun: set[int] = set()
        self.tasks = 1
        """How many tasks read side by side."""
        self.may_split = True
        """Whether nobody sees results by the number of their batch before it is final, or cannot
        forget them: then one that was begun may become another."""
        self._opened = time.time()
        self.look_seconds = 0.0
        """What the last look for files took."""

    def start(self) -> Offsets:
        """Before anything."""
        return dict.fromkeys([*self._logs, *self._tables, *self._topics, *self._made], 0)

    def freeze(self, *, at_once: bool = False) -> None:
        """From now on offer only what is there now, and all of it; in one batch if `at_once`."""
        refuse_endless(self._sources.values())
        for log in self._logs.values():
            log.find(is_whole=True)
        for topic in self._topics.values():
            topic.freeze()
        self._is_frozen, self._is_at_once = True, at_once

    def serve(self, number: int, done: Offsets, *, is_due: bool = False) -> Serving | None:
        """The slices that batch `number` reads after `done`; None if there is nothing new, unless
        the batch `is_due` anyway.

        It is written down before anybody uses it: a batch that is run again reads the same, and is
        known to be one.
        """
        name = serving_name(number)
        if self._store.exists(name):
            end: Offsets = json.loads(bytes(self._store.read(name)))
            if number not in self._begun and self._is_large(done, end):
                # Who began it has been killed, perhaps because it was too much for the memory.
                end = self._half(number, done, end) or end
        else:
            end = self._end_after(done or self.start())
            if end == (done or self.start()) and not is_due:
                return None
            end = {**end, **self._versions(done), _CLOCK: clock_now()}
            self._store.publish(name, json.dumps(end).encode())
        self._begun.add(number)
        # Batches that an earlier version began know no clock: they read all that they would have.
        clock, end = end.get(_CLOCK), {n: at for n, at in end.items() if n != _CLOCK}
        return Serving(tuple(self.slices(done, end, clock)), end, self._oldest(done, end), clock)

    def is_over(self, number: int, done: Offsets) -> bool:
        """Whether batch `number` after `done` would find nothing, and none after it: only where all
        that is there is read, and nobody has begun that batch before."""
        if not self._is_frozen or self._end_after(done) != done:
            return False
        return not self._store.exists(serving_name(number))

    def _is_large(self, done: Offsets, end: Offsets) -> bool:
        read = {name: at for name, at in end.items() if name != _CLOCK}
        return sum(piece.weight for piece in self._between(done, read)) > SPLIT_BYTES

    def halved(self, number: int, done: Offsets) -> Serving | None:
        """The first half of a batch that was too much; None if it is as small as can be.

        Nothing of a batch is seen by anybody before it is final, so it may still become another.
        """
        end = json.loads(bytes(self._store.read(serving_name(number))))
        return None if self._half(number, done, end) is None else self.serve(number, done)

    def _half(self, number: int, done: Offsets, end: Offsets) -> Offsets | None:
        """Write down that a batch ends half way; where, or None if it cannot be split.

        Of a table a batch has all, and the entries of topics are what they are.
        """
        if not self.may_split:
            return None
        streams = [*(n for n, log in self._logs.items() if not log.source.is_table), *self._made]
        half = {n: done.get(n, 0) + (end.get(n, 0) - done.get(n, 0) + 1) // 2 for n in streams}
        if all(end.get(name, 0) == at for name, at in half.items()):
            return None
        what = "batch %s was too much for the memory, or killed: half of it is read now"
        _LOG.warning(what, number)
        end = {**end, **half}
        self._store.replace(serving_name(number), json.dumps(end).encode())
        return end

    def passed(self, done: Offsets) -> None:
        """Tell those who want to know that a batch which read up to `done` is final."""
        for name, log in self._logs.items():
            log.passed(done.get(name, 0))
        for name, topic in self._topics.items():
            topic.passed(done.get(name, 0))
        for name, table in self._tables.items():
            table.passed(done.get(name, 0))

    def _versions(self, done: Offsets) -> Offsets:
        """The versions of tables that the batch after `done` meets."""
        now = time.monotonic()
        return {name: t.renewed(done.get(name, 0), now) for name, t in self._tables.items()}

    def _end_after(self, done: Offsets) -> Offsets:
        """Where the batch after `done` ends."""
        end = self.next(done)
        while self._is_at_once and (after := self.next(end)) != end:
            end = after
        return end

    def everything(self) -> Offsets:
        """Where all that is there ends, once frozen."""
        files = {name: log.count for name, log in self._logs.items()}
        topics = {name: topic.last for name, topic in self._topics.items()}
        made = {name: self._due(made) for name, made in self._made.items()}
        return files | topics | made

    def next(self, offsets: Offsets) -> Offsets:
        """Where the next batch ends; the same as `offsets` if there is nothing new."""
        after = dict(offsets)
        self._look()
        for name, log in self._logs.items():
            done, of = offsets.get(name, 0), log.source.option
            most = None if of("max_files") is None else int(of("max_files") or 0)
            # Who says how many files a batch takes knows what they hold.
            size = int(of("max_bytes") or (BATCH_BYTES if most is None else sys.maxsize))
            after[name] = log.count if log.source.is_table else log.upto(done, most, size)
        after |= self._found_in_topics(offsets)
        for name, made in self._made.items():
            limit = self._sources[name].option("max_time")
            blocks = _blocks_at_once(made)
            if limit is not None:
                blocks = max(1, int(limit) // made.block_micros)
            after[name] = _limited(offsets.get(name, 0), self._due(made), blocks)
        return after

    def _found_in_topics(self, offsets: Offsets) -> Offsets:
        """Where the next batch ends in each topic; brokers are asked of all of them at once."""
        if not self._topics:
            return {}
        done = [offsets.get(name, 0) for name in self._topics]
        with ThreadPoolExecutor(len(done)) as pool:
            found = pool.map(lambda topic, at: topic.find(at), self._topics.values(), done)
            return dict(zip(self._topics, found, strict=True))

    def backlog(self, done: Offsets, seconds: float = 0.0) -> dict[str, int]:
        """The pieces of each stream that are there and not read by `done`: files, records, blocks.

        Where looking for files took longer than `seconds` the last time, they are those that were
        there then.
        """
        is_new = not self._is_frozen and self.look_seconds <= seconds
        streams = {name: log for name, log in self._logs.items() if not log.source.is_table}
        for log in streams.values() if is_new else ():
            with suppress(SourceError):  # The next batch will say so.
                log.find(is_rough=True)
        there = {name: log.count for name, log in streams.items()}
        there |= {name: self._due(made) for name, made in self._made.items()}
        left = {name: max(end - done.get(name, 0), 0) for name, end in there.items()}
        return left | {name: t.unread(done.get(name, 0)) for name, t in self._topics.items()}

    def _oldest(self, done: Offsets, end: Offsets) -> float | None:
        """When the first piece between two offsets came, or could be had since this feed is open.

        What was there before waited for somebody to run the query, not for its results; and nobody
        waits for what is read to its end.
        """
        if self._is_frozen:
            return None
        streams = [name for name in end if name not in self._tables]
        came = [
            self._came(name, done.get(name, 0)) for name in streams if end[name] > done.get(name, 0)
        ]
        return max(min(came), self._opened) if came else None

    def _came(self, name: str, piece: int) -> float:
        """When a piece of a source could first be read by anybody, seconds since the epoch."""
        if name in self._logs:
            return self._logs[name].came(piece)
        if name in self._topics:
            return self._topics[name].found(piece + 1)
        assert self._pace is not None, "a source that is made up has a pace"
        return self._pace.started + (piece + 1) * self._made[name].block_micros / MICROS

    def _look(self) -> None:
        """Find new files, unless only those that are there already are read."""
        started = time.monotonic()
        for log in () if self._is_frozen else self._logs.values():
            log.find(time.time())
        self.look_seconds = time.monotonic() - started

    def _due(self, made: Made) -> int:
        """The blocks that can be read by now: all of them, once the feed is frozen."""
        if made.blocks is not None and self._is_frozen:
            return made.blocks
        assert self._pace is not None
        due = made.blocks_by(time.time() - self._pace.started)
        return due if made.blocks is None else min(due, made.blocks)

    def slices(self, first: Offsets, last: Offsets, clock: int | None = None) -> list[Slice]:
        """The pieces between two offsets; `clock` tells what of them would be in the future."""
        found = shared_out(self._between(first, last), self._sources, self.tasks)
        return [replace(piece, latest=self._sources[piece.source].latest(clock)) for piece in found]

    def _between(self, first: Offsets, last: Offsets) -> list[Slice]:
        slices = []
        for name, end in last.items():
            begin = first.get(name, 0)
            if name not in self._sources:
                continue  # Who read it has left the script that began the batch.
            if name in self._logs:
                files = self._logs[name].files
                slices += [
                    Slice(name, files[n].path, n, weight=weight_of(files[n]))
                    for n in range(begin, end)
                ]
            elif name in self._topics:
                slices += self._topics[name].slices(begin, end)
            elif name in self._tables:
                slices += self._tables[name].slices(end) if end > begin else []
            elif end > begin:
                weight = int((end - begin) * _block_rows(self._made[name]) * ROW_BYTES)
                slices.append(Slice(name, first=begin, last=end, weight=weight))
        return slices


def _topic(source: Source, store: Store) -> TopicLog:
    # Only now: without Kafka its client need not be installed.
    from penstock.engine.sources.kafka.topic_log import TopicLog

    return TopicLog(source, store, log_folder(store, source.name))


def refuse_endless(sources: Iterable[Source]) -> None:
    """Refuse to read all of a source that has no end."""
    for source in sources:
        is_rate = source.format == "rate"
        if is_rate or (source.format in MADE_FORMATS and made_of(source).blocks is None):
            raise SourceError(
                f"stream {source.name} has no end, so there is no reading all of it",
                place=source.places.get("format"),
                hint=f"run it with --trigger{'' if is_rate else ', or give it rows or a duration'}",
            )


def refuse_sources_of_spark(sources: Iterable[Source]) -> None:
    """Refuse streams and tables that only Spark can read."""
    for source in (each for each in sources if each.is_of_spark):
        kind = "table" if source.is_table else "stream"
        what = {"rate": "Spark's own rate source", "dataframe": "a DataFrame of Spark's"}
        instead = ", or use format='synthetic'" if source.format == "rate" else ""
        raise SourceError(
            f"{kind} {source.name} is {what.get(source.format, 'read by Spark')}",
            place=source.places.get("format"),
            hint=f"run it with --engine spark{instead}",
        )


def refuse_missing_frames(sources: Iterable[Source], given: Collection[str]) -> None:
    """Refuse streams and tables that are DataFrames which nobody has given."""
    names = {name.lower() for name in given}
    for source in sources:
        if source.format == "dataframe" and source.name.lower() not in names:
            kind = "table" if source.is_table else "stream"
            raise SourceError(
                f"{kind} {source.name} is a DataFrame, and none was given",
                place=source.places.get("format"),
                hint=f'give it in a program: ps.sql(…, streams={{"{source.name}": frame}})',
            )


def clock_now() -> int:
    """What the clock shows, microseconds since the epoch."""
    return round(time.time() * 1e6)


def serving_name(number: int) -> str:
    """The file that says how far a batch reads."""
    return f"feed/{number:012d}.json"


def _block_rows(made: Made) -> float:
    return float(made.rate) * made.block_micros / MICROS


def _blocks_at_once(made: Made) -> int:
    """The blocks that a batch takes, if nothing is said."""
    return max(1, int(BATCH_BYTES / (ROW_BYTES * max(_block_rows(made), 1e-9))))


def _limited(done: int, known: int, limit: str | int | float | bool | None) -> int:
    return known if limit is None else max(done, min(known, done + int(limit)))
