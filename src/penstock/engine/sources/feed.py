"""The feed: which pieces of the sources make up the next batch, the same again after a crash."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from penstock.duration import MICROS
from penstock.engine.places.file_names import as_file_name
from penstock.engine.places.place import Place
from penstock.engine.sources.files import FileInfo, absolute, list_files
from penstock.engine.sources.made.made import Made, made_of
from penstock.engine.sources.slices import Slice
from penstock.engine.sources.table_versions import TableVersions
from penstock.engine.state.store import RESTORE, Store
from penstock.errors import CheckpointError, SourceError
from penstock.query.source import FILE_FORMATS, MADE_FORMATS, Source

if TYPE_CHECKING:
    from penstock.engine.sources.kafka.topic_log import TopicLog

Offsets = Mapping[str, int]

# Entries of a source's file log before they are written together as one.
_COMPACT = 64


class FileLog:
    """The files of a source in the order in which they were found, kept in the checkpoint.

    An offset counts files. The log is written before anybody uses an offset, so an offset always
    means the same files.
    """

    def __init__(self, source: Source, store: Store):
        self.source = source
        self._store = store
        self._folder = _log_folder(store, source.name)
        self.files: list[FileInfo] = []
        self._load()
        self._known = {_where(file) for file in self.files}

    def find(self) -> None:
        """Add the files that are new since last time, oldest first."""
        found = self._new()
        if not found:
            return
        self._write(len(self.files), found)
        self.files += found
        self._known |= {_where(file) for file in found}
        entries = self._store.names(self._folder)
        if len(entries) >= _COMPACT:
            self._write(0, self.files)
            self._store.remove(entries)

    def unlisted(self) -> int:
        """How many files have come since; none if that cannot be told now."""
        try:
            return len(self._new())
        except SourceError:
            return 0

    def _new(self) -> list[FileInfo]:
        path, place = self.source.path, self.source.places.get("path")
        assert path is not None, "the parser has checked that there is one"
        return [f for f in list_files(path, place) if _where(f) not in self._known]

    def _write(self, first: int, files: list[FileInfo]) -> None:
        name = f"{self._folder}/{first:012d}-{first + len(files):012d}.json"
        self._store.publish(name, json.dumps([asdict(f) for f in files]).encode())

    def _load(self) -> None:
        for name in sorted(self._store.names(self._folder), key=_bounds):
            if not name.endswith(".json") or "/." in name:
                continue
            first, last = _bounds(name)
            if last > len(self.files):
                self.files += self._read(name)[len(self.files) - first :]

    def _read(self, name: str) -> list[FileInfo]:
        try:
            return [FileInfo(**file) for file in json.loads(bytes(self._store.read(name)))]
        except (ValueError, TypeError) as error:
            raise CheckpointError(
                f"the file log {self._store.path(name)} is damaged: {error}",
                hint=RESTORE,
            ) from None


def _log_folder(store: Store, name: str) -> str:
    """Where the log of a source is kept."""
    folder = as_file_name(name)
    # Earlier versions took names as they were, of which some led astray or were too long. One with
    # a % may be what another stream's name is encoded as.
    is_file_name = not {"", ".", ".."} & set(name.split("/")) and len(name.encode()) < 256
    is_told_apart = name.isprintable() and "%" not in name
    is_old = folder != name and is_file_name and is_told_apart and store.names(f"sources/{name}")
    return f"sources/{name if is_old else folder}"


def _where(file: FileInfo) -> str:
    """The one text of a file's path, however it is written; most are plain paths already."""
    return file.path if file.path.startswith("/") else Place.of(file.path).where


def _bounds(name: str) -> tuple[int, int]:
    first, _, last = name.rsplit("/", 1)[-1].removesuffix(".json").partition("-")
    return (int(first), int(last)) if first.isdigit() and last.isdigit() else (0, 0)


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
    nobody waited for it.
    """

    slices: tuple[Slice, ...]
    offsets: Offsets
    oldest: float | None = None


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
        self._opened = time.time()
        self._look_seconds = 0.0

    def start(self) -> Offsets:
        """Before anything."""
        return dict.fromkeys([*self._logs, *self._tables, *self._topics, *self._made], 0)

    def freeze(self, *, at_once: bool = False) -> None:
        """From now on offer only what is there now, and all of it; in one batch if `at_once`."""
        refuse_endless(self._sources.values())
        for log in self._logs.values():
            log.find()
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
        else:
            end = self._end_after(done or self.start())
            if end == (done or self.start()) and not is_due:
                return None
            end = {**end, **self._versions(done)}
            self._store.publish(name, json.dumps(end).encode())
        return Serving(tuple(self.slices(done, end)), end, self._oldest(done, end))

    def passed(self, done: Offsets) -> None:
        """Tell those who want to know that a batch which read up to `done` is final."""
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
        files = {name: len(log.files) for name, log in self._logs.items()}
        topics = {name: topic.last for name, topic in self._topics.items()}
        made = {name: self._due(made) for name, made in self._made.items()}
        return files | topics | made

    def next(self, offsets: Offsets) -> Offsets:
        """Where the next batch ends; the same as `offsets` if there is nothing new."""
        after = dict(offsets)
        self._look()
        for name, log in self._logs.items():
            limit = None if log.source.is_table else log.source.option("max_files")
            after[name] = _limited(offsets.get(name, 0), len(log.files), limit)
        for name, topic in self._topics.items():
            after[name] = topic.find(offsets.get(name, 0))
        for name, made in self._made.items():
            limit = self._sources[name].option("max_time")
            blocks = None if limit is None else max(1, int(limit) // made.block_micros)
            after[name] = _limited(offsets.get(name, 0), self._due(made), blocks)
        return after

    def backlog(self, done: Offsets, seconds: float = 0.0) -> dict[str, int]:
        """The pieces of each stream that are there and not read by `done`: files, records, blocks.

        Where looking for files took longer than `seconds` the last time, they are those that were
        there then.
        """
        is_new = not self._is_frozen and self._look_seconds <= seconds
        streams = {name: log for name, log in self._logs.items() if not log.source.is_table}
        there = {
            n: len(log.files) + (log.unlisted() if is_new else 0) for n, log in streams.items()
        }
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
            return self._logs[name].files[piece].mtime / 1e9
        if name in self._topics:
            return self._topics[name].found(piece + 1)
        assert self._pace is not None, "a source that is made up has a pace"
        return self._pace.started + (piece + 1) * self._made[name].block_micros / MICROS

    def _look(self) -> None:
        """Find new files, unless only those that are there already are read."""
        started = time.monotonic()
        for log in () if self._is_frozen else self._logs.values():
            log.find()
        self._look_seconds = time.monotonic() - started

    def _due(self, made: Made) -> int:
        """The blocks that can be read by now: all of them, once the feed is frozen."""
        if made.blocks is not None and self._is_frozen:
            return made.blocks
        assert self._pace is not None
        due = made.blocks_by(time.time() - self._pace.started)
        return due if made.blocks is None else min(due, made.blocks)

    def slices(self, first: Offsets, last: Offsets) -> list[Slice]:
        """The pieces between two offsets."""
        slices = []
        for name, end in last.items():
            begin = first.get(name, 0)
            if name in self._logs:
                files = self._logs[name].files
                slices += [Slice(name, files[n].path, n) for n in range(begin, end)]
            elif name in self._topics:
                slices += self._topics[name].slices(begin, end)
            elif name in self._tables:
                slices += self._tables[name].slices(end) if end > begin else []
            elif end > begin:
                slices.append(Slice(name, first=begin, last=end))
        return slices


def _topic(source: Source, store: Store) -> TopicLog:
    # Only now: without Kafka its client need not be installed.
    from penstock.engine.sources.kafka.topic_log import TopicLog

    return TopicLog(source, store, _log_folder(store, source.name))


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


def serving_name(number: int) -> str:
    """The file that says how far a batch reads."""
    return f"feed/{number:012d}.json"


def _limited(done: int, known: int, limit: str | int | float | bool | None) -> int:
    return known if limit is None else max(done, min(known, done + int(limit)))
