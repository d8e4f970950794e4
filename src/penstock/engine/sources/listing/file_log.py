"""The file log: the files of a source in the order in which they were found."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from penstock.engine.places.file_names import as_file_name
from penstock.engine.places.objects import is_object_store
from penstock.engine.places.place import Place
from penstock.engine.sources.files import (
    FileInfo,
    fixed_part,
    in_order,
    is_pattern,
    list_files,
    placed,
    unreadable,
    weight_of,
)
from penstock.engine.sources.listing.folder_scan import FolderScan
from penstock.engine.sources.listing.seen_files import SeenFiles, Sight, twin_of
from penstock.engine.sources.listing.segments import Segment, Segments
from penstock.engine.sources.listing.store_scan import StoreScan
from penstock.engine.state.store import Store
from penstock.query.source import MAX_AGE, Source

_LOG = logging.getLogger(__name__)
FEWEST = 100_000
"""Files that are remembered however old they are."""
_NAMED = 10
"""Files that warnings name; there may be thousands."""


class FileLog:
    """The files of a source in the order in which they were found, kept in the checkpoint.

    An offset counts files. The log is written before anybody uses an offset, so an offset always
    means the same files. Of many files those are forgotten that are read and much older than the
    newest: what is as old and not known is taken for one of them.
    """

    def __init__(self, source: Source, store: Store):
        self.source = source
        self.files: dict[int, FileInfo] = {}
        """The files by number, but for those that no batch will read any more."""
        self._not_before: dict[int, float] = {}
        self._looked = 0.0
        self._store = store
        self._folder = log_folder(store, source.name)
        self._segments = Segments(store, self._folder)
        self._root = _Root.of(source)
        self._seen = SeenFiles()
        self._is_first_look = True
        self._passed_over: set[str] = set()
        self._done = 0
        self._told = 0
        self._forgotten = self._read_forgotten()
        for segment in self._segments.load():
            self._take_in(segment)
        self._again = dict.fromkeys(self._segments.known_again())
        for file in self._again:
            self._seen.know_again(file.path, file)

    @property
    def count(self) -> int:
        """How many files have been found so far."""
        return self._seen.count

    def find(
        self, now: float | None = None, *, is_rough: bool = False, is_whole: bool = False
    ) -> None:
        """Add the files that are new since last time, oldest first; a rough look may miss some that
        have come just now. On an object store only one that `is_whole` is sure to find all.

        `now` is what the clock shows, of looks that are to find all.
        """
        known = len(self._again)
        found = self._new(is_rough, is_whole)
        if len(self._again) > known:
            self._write_again()
        if found:
            self._write(self.count, found)
            for file in found:
                self._not_before[self.count] = self._looked
                self._add(file)
        if now is not None and self._root.store_scan is None:
            self._looked = now
        self._is_first_look = False
        self._look_again()

    def came(self, number: int) -> float:
        """When a file came, seconds since the epoch: when it was written, but not before the last
        look that did not find it. One that was written elsewhere is moved there later."""
        return max(self.files[number].mtime / 1e9, self._not_before.get(number, 0.0))

    def passed(self, done: int) -> None:
        """Forget what no batch needs any more, once that up to `done` is final."""
        for number in range(max(self._done, self._seen.first), done):
            self.files.pop(number, None)
            self._not_before.pop(number, None)
        self._done = max(self._done, done)
        self._forget()

    def upto(self, done: int, most_files: int | None, most_bytes: int) -> int:
        """Where a batch after `done` ends that takes no more than that, but one file at least."""
        last = self.count if most_files is None else min(self.count, done + most_files)
        weight = 0
        for number in range(done, last):
            weight += weight_of(self.files[number])
            if weight > most_bytes and number > done:
                return number
        return max(done, last)

    # Looking

    def _new(self, is_rough: bool, is_whole: bool) -> list[FileInfo]:
        place = self.source.places.get("path")
        with unreadable(self._root.place, place):
            unknown = in_order(self._unknown(is_rough, is_whole))
            found = [file for file in unknown if self._is_new(file)]
        return self._once(found)

    def _once(self, found: list[FileInfo]) -> list[FileInfo]:
        """The files, each by the first of the paths that lead to it."""
        firsts: dict[int, FileInfo] = {}
        for file in found:
            if file.inode and firsts.setdefault(twin_of(file), file) is not file:
                self._passed_over.add(self._root.name(file.path))
        return [file for file in found if not file.inode or firsts[twin_of(file)] is file]

    def _unknown(self, is_rough: bool, is_whole: bool) -> Iterator[FileInfo]:
        """The files that are not known by their names."""
        root, scan = self._root, self._root.scan
        if scan is not None and os.path.isdir(scan.root):
            return scan.unknown(self._seen.inodes, self._needs_no_look, is_rough=is_rough)
        place = self.source.places.get("path")
        if root.place.is_local:
            return iter(list_files(root.place.text, place, self._is_known_path))
        if root.store_scan is not None and self.count:
            listed = root.store_scan.files(is_whole=is_whole)
        else:
            listed = iter(list_files(root.place.text, place))
        return (file for file in listed if not self._is_as_seen(file))

    def _needs_no_look(self, name: str, inode: int) -> bool:
        return name in self._passed_over or self._seen.is_known(name, inode)

    def _is_as_seen(self, file: FileInfo) -> bool:
        """Whether nothing is to be said of a file that a listing tells all of."""
        name = self._root.name(file.path)
        return name in self._passed_over or self._seen.sight(name, file) is Sight.SAME

    def _is_known_path(self, path: str) -> bool:
        return self._needs_no_look(self._root.name(path), 0)

    def _is_new(self, file: FileInfo) -> bool:
        """Whether a file is to be read; what is said of others is said here."""
        name = self._root.name(file.path)
        sight = self._seen.sight(name, file)
        other = self._other_name(file) if sight is Sight.NEW else None
        if other is not None:
            self._passed_over.add(name)
            self._rewritten(other, file)
            return False
        if sight is Sight.NEW and file.mtime > self._forgotten:
            return True
        if sight is Sight.REWRITTEN:
            self._rewritten(name, file)
        elif sight is Sight.NEW:
            self._pass_over(name)
        else:
            self._know_again(name, file)
        return False

    def _know_again(self, name: str, file: FileInfo) -> None:
        """Remember what a known file is called now and what it is on the disk, so that it is known
        when one of these changes and then the other."""
        if self._seen.knows(name):
            self._seen.renew(name, file)  # A copy that was put in its place.
        else:
            self._passed_over.add(name)  # It was read by another path.
        self._seen.know_again(name, file)
        if self._root.prefix:
            self._again.setdefault(replace(file, path=name))

    def _other_name(self, file: FileInfo) -> str | None:
        """The name by which a file is known that was changed since: one that still leads there."""
        name = self._seen.name_of(file.inode) if file.inode and self._root.prefix else None
        with suppress(OSError):
            if name is not None and os.stat(f"{self._root.prefix}{name}").st_ino == file.inode:
                return name
        return None

    def _look_again(self) -> None:
        """See whether some of the known files are still what they were: others in each look."""
        if self._root.scan is None:
            return
        for name in self._seen.next_names():
            with suppress(OSError):
                found = os.stat(f"{self._root.prefix}{name}")
                file = FileInfo("", found.st_mtime_ns, found.st_size, found.st_ino)
                if self._seen.sight(name, file) is Sight.REWRITTEN:
                    self._rewritten(name, file)

    def _rewritten(self, name: str, file: FileInfo) -> None:
        if self._seen.number(name) < self._done:
            self._tell(
                "%s: %s was written again after it had been read: what it holds now is not read. "
                "Bring new rows in new files",
                name,
            )
        self._seen.renew(name, file)

    def _pass_over(self, name: str) -> None:
        self._passed_over.add(name)
        if not self._is_first_look:
            self._tell(
                "%s: %s has just come, and is older than files that are forgotten by now: it is "
                "not read. Touch it, or remember more files with max_age",
                name,
            )

    def _tell(self, message: str, name: str) -> None:
        self._told += 1
        if self._told <= _NAMED:
            _LOG.warning(message, self.source.name, f"{self._root.prefix}{name}")

    # Keeping

    def _take_in(self, segment: Segment) -> None:
        """Know the files of a segment that was written before."""
        if not len(self._seen):
            self._seen.first = segment.first
        is_here = segment.root in ("", self._root.prefix)
        for file in map(self._root.reached, segment.files):
            name = self._root.name(file.path) if is_here else file.path.removeprefix(segment.root)
            self.files[self.count] = file
            self._seen.add(name, file, is_here=is_here)

    def _add(self, file: FileInfo) -> None:
        self.files[self.count] = file
        self._seen.add(self._root.name(file.path), file)

    def _write(self, first: int, files: list[FileInfo]) -> None:
        last, kept = first + len(files), tuple(map(self._root.kept, files))
        self._segments.write(Segment(first, last, self._root.prefix, kept))

    def _forget(self) -> None:
        """Forget whole segments that are read, of files that are old enough."""
        age = self.source.option("max_age")
        horizon = MAX_AGE if age is None else int(age)
        # A file of the future must not make all others seem old.
        edge = min(self._seen.newest, time.time_ns()) - horizon * 1000
        while horizon >= 0 and (span := self._segments.first) is not None:
            newest = self._seen.newest_of(*span)
            if self._done - span[1] < FEWEST or newest >= edge:
                return
            self._forgotten = max(self._forgotten, newest)
            said = json.dumps(self._forgotten).encode()
            self._store.replace(f"{self._folder}/{_FORGOTTEN}", said)
            self._segments.remove_first()
            gone = self._seen.forget(span[1])
            self._passed_over.update(name for name in gone if self._is_there(name))

    def _write_again(self) -> None:
        self._again = {file: None for file in self._again if file.mtime > self._forgotten}
        self._segments.write_known_again(tuple(self._again))

    def _is_there(self, name: str) -> bool:
        """Whether a look may find a file that is forgotten by now."""
        return not self._root.prefix or os.path.exists(f"{self._root.prefix}{name}")

    def _read_forgotten(self) -> int:
        """The highest time of a file that is forgotten, nanoseconds; below all, if none is."""
        name = f"{self._folder}/{_FORGOTTEN}"
        return int(json.loads(bytes(self._store.read(name)))) if self._store.exists(name) else -1


_FORGOTTEN = "forgotten.json"


class _Root:
    """What the names of files are below, and how it is looked at."""

    def __init__(self, place: Place):
        self.place = place
        fixed = place.path if place.is_local else ""
        if place.is_local and is_pattern(place):
            fixed = fixed_part(place.path)
        elif place.is_local and not os.path.isdir(place):
            fixed = os.path.dirname(place.path)
        self.prefix = f"{fixed.rstrip('/')}/" if place.is_local and not place.options else ""
        self.scan = FolderScan(place.path) if self.prefix and fixed == place.path else None
        self.store_scan = StoreScan(place) if is_object_store(place) else None

    @classmethod
    def of(cls, source: Source) -> _Root:
        assert source.path is not None, "the parser has checked that there is one"
        return cls(placed(source.path, source.places.get("path")))

    def kept(self, file: FileInfo) -> FileInfo:
        """A file as it is written down, without credentials."""
        return file if self.prefix else replace(file, path=Place.of(file.path).plain)

    def reached(self, file: FileInfo) -> FileInfo:
        """One that was written down, with the credentials of now."""
        if self.prefix or self.place.is_local:
            return file
        return replace(file, path=Place.of(file.path).like(self.place).text)

    def name(self, path: str) -> str:
        """The name of a file below the root; of one that is elsewhere, all of its path."""
        if self.prefix:
            return path.removeprefix(self.prefix)
        names, above = Place.of(path).names, self.place.names
        is_below = names[: len(above)] == above
        return "/".join(names[len(above) :] or names if is_below else names)


def log_folder(store: Store, name: str) -> str:
    """Where the log of a source is kept."""
    folder = as_file_name(name)
    # Earlier versions took names as they were, of which some led astray or were too long. One with
    # a % may be what another stream's name is encoded as.
    is_file_name = not {"", ".", ".."} & set(name.split("/")) and len(name.encode()) < 256
    is_told_apart = name.isprintable() and "%" not in name
    is_old = folder != name and is_file_name and is_told_apart and store.names(f"sources/{name}")
    return f"sources/{name if is_old else folder}"
