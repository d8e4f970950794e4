"""Input files: which there are under a path, and how to open them."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import pyarrow as pa
from pyarrow import fs

from penstock import errors
from penstock.engine.places.objects import hint_for, is_object_store, list_objects
from penstock.engine.places.place import Place
from penstock.errors import PlaceError, SourceError
from penstock.query.source import Source


@dataclass(frozen=True)
class FileInfo:
    """An input file; `mtime` in nanoseconds since the epoch, `size` in bytes, `inode` its number on
    a local disk, 0 where it is not known, `etag` what an object store knows it by."""

    path: str
    mtime: int
    size: int
    inode: int = 0
    etag: str = ""


_PACKED = (".gz", ".bz2", ".zst", ".lz4", ".br", ".parquet")
"""What the names of files end in that hold more than their bytes."""
_UNPACKED = 4
"""Bytes that a byte of such a file stands for, about."""


def weight_of(file: FileInfo) -> int:
    """The bytes of text that a file holds, about."""
    return file.size * (_UNPACKED if is_packed(file.path) else 1)


def is_packed(path: str) -> bool:
    """Whether a file holds more than its bytes, by its name."""
    return path.lower().endswith(_PACKED)


def list_files(
    path: str, place: errors.Caret | None = None, but: Callable[[str], bool] = lambda path: False
) -> list[FileInfo]:
    """The files of a directory (with all below it), a glob pattern, or a single file; oldest first.

    A name that begins with `.` or `_` hides a file or directory below the path. `path` may be a
    URI; `place` is where the query says it. The paths are absolute, for workers run elsewhere. Of
    a pattern, local files are left out, and not looked at, `but` for which is true.
    """
    root = placed(path, place)
    with unreadable(root, place):
        return in_order(_found(root, but))


def in_order(files: Iterable[FileInfo]) -> list[FileInfo]:
    """Files in the order in which they are read: by their times, then by their paths."""
    return sorted(files, key=lambda info: (info.mtime, info.path))


@contextmanager
def unreadable(root: Place, place: errors.Caret | None) -> Iterator[None]:
    """Say in the query's words that a place cannot be looked at."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(root, str(error), place) from error
    except PlaceError as error:
        raise _unreadable(root, error.message, place) from error


def absolute(source: Source) -> Source:
    """A source whose path means the same to every process, wherever it was started."""
    if source.path is None:
        return source
    return replace(source, path=placed(source.path, source.places.get("path")).text)


def placed(path: str, place: errors.Caret | None) -> Place:
    """The place of a path; an error where the query says it, if there is none."""
    try:
        return Place.of(path)
    except PlaceError as error:
        raise SourceError(error.message, place=place, hint=error.hint) from None


def is_pattern(root: Place) -> bool:
    """Whether a place stands for all local files that match it."""
    return root.is_local and glob.has_magic(root.path) and not os.path.exists(root)


def is_read(root: Place, file: Place) -> bool:
    """Whether a file would be found at or below a place, or by its pattern, if it were there; also
    where links lead to the same file."""
    return _finds(root, file) or _finds(_real(root), _real(file))


def _finds(root: Place, file: Place) -> bool:
    if not root.is_in_store_of(file):
        return False
    fixed, found = root.names, file.names[: len(root.names)] == root.names
    if is_pattern(root):
        fixed, found = Place.of(fixed_part(root.path)).names, _matches(root.names, file.names)
    return found and not _is_hidden("/".join(file.names[len(fixed) :]))


def _matches(pattern: Sequence[str], names: Sequence[str]) -> bool:
    """Whether a pattern is that of a file, or of a folder above it."""
    if not pattern or not names:
        return not pattern
    if pattern[0] == "**":
        return _matches(pattern[1:], names) or _matches(pattern, names[1:])
    return fnmatchcase(names[0], pattern[0]) and _matches(pattern[1:], names[1:])


def _real(place: Place) -> Place:
    return Place.of(os.path.realpath(place)) if place.is_local else place


def _found(root: Place, but: Callable[[str], bool]) -> Iterator[FileInfo]:
    if is_pattern(root):
        fixed = fixed_part(root.path)
        os.stat(fixed)
        for match in glob.iglob(root.path, recursive=True):
            below = os.path.relpath(match, fixed)
            if not _is_hidden(below) and not but(match):
                yield from _below(Place(root.scheme, "", Place.of(match).names, root.options))
        return
    if is_object_store(root):
        found = [file for _, file in objects_below(root)]
        if found:
            yield from found
            return
    if not root.exists:
        raise FileNotFoundError("there is no such file or directory")
    yield from _below(root)


def objects_below(root: Place, after: str | None = None) -> Iterator[tuple[str, FileInfo]]:
    """The files of an object store below a place with their names there, those after a name."""
    for found in list_objects(root, after):
        if not _is_hidden(found.name):
            place = root / found.name
            yield found.name, FileInfo(place.text, found.mtime, found.size, 0, found.etag)


def _below(root: Place) -> Iterator[FileInfo]:
    """The files at or below a place."""
    info = root.info()
    if info.type is fs.FileType.File:
        yield _info(info, root)
    if info.type is fs.FileType.Directory:
        for name, found in root.files(recursive=True):
            if not _is_hidden(name):
                yield _info(found, root / name)


def _info(info: fs.FileInfo, place: Place) -> FileInfo:
    return FileInfo(place.text, info.mtime_ns or 0, info.size or 0, _inode(place))


def _inode(place: Place) -> int:
    try:
        return os.stat(place).st_ino if place.is_local else 0
    except OSError:
        return 0


def fixed_part(pattern: str) -> str:
    """The directory of a pattern that no wildcard is in."""
    parts = pattern.split(os.sep)
    magic = next(i for i, part in enumerate(parts) if glob.has_magic(part))
    return os.sep.join(parts[:magic]) or (os.sep if pattern.startswith(os.sep) else os.curdir)


def _is_hidden(below: str) -> bool:
    return any(part.startswith((".", "_")) for part in below.split("/"))


def _unreadable(path: Place, reason: str, place: errors.Caret | None) -> SourceError:
    return SourceError(
        f"cannot read {path}: {reason}",
        place=place,
        hint=hint_for(reason)
        or "the path must be a file, a directory, a pattern such as 'logs/*.csv', or a URI",
    )
