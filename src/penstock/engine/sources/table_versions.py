"""Versions of a table that changes: its files as they were at one time, kept in the checkpoint."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from hashlib import sha256

import pyarrow as pa

from penstock.engine.places.copied import Copied
from penstock.engine.places.file_names import as_file_name, unique_name
from penstock.engine.places.place import Place, open_new
from penstock.engine.sources.files import FileInfo, list_files
from penstock.engine.sources.read import read_file
from penstock.engine.sources.slices import Slice
from penstock.engine.state.store import RESTORE, Store, storage_errors
from penstock.errors import CheckpointError, SourceError
from penstock.query.source import Source

_LOG = logging.getLogger(__name__)
_STRETCH = 1 << 20
"""Bytes that are copied at a time."""
_ENDING = re.compile(r"\.[0-9a-z]{1,8}")


@dataclass(frozen=True)
class VersionFile:
    """A file of a table: where and what it was, and the checkpoint's copy of it."""

    path: str
    mtime: int
    size: int
    digest: str
    """The SHA-256 of what is in it."""
    copy: str
    """The name of its copy in the checkpoint."""

    @property
    def found(self) -> FileInfo:
        """The file as it was listed."""
        return FileInfo(self.path, self.mtime, self.size)


class TableVersions:
    """The versions of one table, numbered from 1. The last one is kept; the checkpoint has a copy
    of its files, so that whoever reads it again reads the same."""

    def __init__(self, source: Source, store: Store, columns: Collection[str] | None = None):
        """The versions that a checkpoint has; `columns` are those that are read, all by default."""
        self._source = source
        self._store = store
        self._columns = tuple(f.name for f in source.fields) if columns is None else columns
        self._folder = f"tables/{as_file_name(source.name)}"
        self._looked: float | None = None
        self._said = ""
        numbers = [_number(name) for name in store.names(self._folder) if name.endswith(".json")]
        self.last = max(numbers, default=0)
        self._files = self._read(self.last) if self.last else ()
        self._found = [file.found for file in self._files]

    def renewed(self, done: int, now: float) -> int:
        """The version that a batch reads which comes after one that had read `done`.

        `now` is the time on any clock, in seconds; the first look of a run is due at once.
        """
        assert self._source.refresh is not None
        is_due = self._looked is None or (now - self._looked) * 1e6 >= self._source.refresh
        if self.last <= done and is_due and self._look():
            self._looked = now
        return self.last

    def slices(self, number: int) -> list[Slice]:
        """The pieces of a version."""
        files = self._files if number == self.last else self._read(number)
        root, name = self._store.root, self._source.name
        return [
            Slice(name, (root / file.copy).text, place, copy_of=file.path)
            for place, file in enumerate(files)
        ]

    def passed(self, number: int) -> None:
        """Delete what no batch needs any more once one is final that has read a version."""
        if number < self.last:
            return
        kept = {file.copy for file in self._files} | {self._name(self.last)}
        self._store.remove([n for n in self._store.names(self._folder) if n not in kept])

    def _look(self) -> bool:
        """Take what the files hold now as another version, if they hold anything else; whether that
        is settled, and not to be looked at again with the next batch.

        What cannot be read is no version: where there is one already, that one stays.
        """
        try:
            is_settled = self._take(self._listed())
            self._said = ""
        except SourceError as error:
            if not self.last:
                raise
            if error.message != self._said:
                _LOG.warning("table %s stays as it was: %s", self._source.name, error.message)
            self._said, is_settled = error.message, True
        return is_settled

    def _take(self, found: list[FileInfo]) -> bool:
        if self.last and found == self._found:
            return True
        files = tuple(self._copied(info) for info in found)
        if self.last and self._listed() != found:
            return False  # They are being written.
        if not self.last or _contents(files) != _contents(self._files):
            self._check(files)
            listed = [asdict(file) for file in files]
            self._store.publish(self._name(self.last + 1), json.dumps(listed).encode())
            self.last, self._files = self.last + 1, files
        self._found = found
        return True

    def _listed(self) -> list[FileInfo]:
        return list_files(str(self._source.path), self._source.places.get("path"))

    def _copied(self, info: FileInfo) -> VersionFile:
        """A copy of a file in the checkpoint."""
        ending = _ENDING.fullmatch("." + info.path.rpartition(".")[2].lower())
        copy = f"{self._folder}/{unique_name(ending[0] if ending else '')}"
        digest = sha256()
        try:
            source = Place.of(info.path)
            stream = source.filesystem.open_input_stream(source.path, compression=None)
        except (OSError, pa.ArrowException) as error:
            raise self._unreadable(info, error) from None
        target = self._store.root / copy
        with stream, storage_errors("write", target.path), open_new(target, None) as out:
            while stretch := self._stretch(stream, info):
                digest.update(stretch)
                out.write(stretch)
        return VersionFile(source.plain, info.mtime, info.size, digest.hexdigest(), copy)

    def _stretch(self, stream: pa.NativeFile, info: FileInfo) -> bytes:
        try:
            return bytes(stream.read(_STRETCH))
        except (OSError, pa.ArrowException) as error:
            raise self._unreadable(info, error) from None

    def _unreadable(self, info: FileInfo, error: Exception) -> SourceError:
        return SourceError(
            f"cannot read {Place.of(info.path)}: {error}",
            place=self._source.places.get("path"),
            hint="nothing is lost: mend that, then run again on this checkpoint",
        )

    def _check(self, files: Iterable[VersionFile]) -> None:
        """Refuse a version that no batch could read; one whose faults are dropped can be."""
        for file in () if self._source.drops_malformed else files:
            copy = Copied.of_file((self._store.root / file.copy).text, file.path)
            for _ in read_file(self._source, copy, self._columns):
                pass

    def _name(self, number: int) -> str:
        return f"{self._folder}/{number:012d}.json"

    def _read(self, number: int) -> tuple[VersionFile, ...]:
        name = self._name(number)
        try:
            listed = json.loads(bytes(self._store.read(name)))
            return tuple(VersionFile(**file) for file in listed)
        except (OSError, ValueError, TypeError) as error:
            raise CheckpointError(
                f"the version of a table, {self._store.path(name)}, cannot be read: {error}",
                hint=RESTORE,
            ) from None


def _contents(files: Iterable[VersionFile]) -> list[str]:
    return sorted(file.digest for file in files)


def _number(name: str) -> int:
    number = name.rpartition("/")[2].removesuffix(".json")
    return int(number) if number.isdigit() else 0
