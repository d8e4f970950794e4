"""Input files: which there are under a path, and how to open them."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa
from pyarrow import fs

from penstock import errors
from penstock.engine.places.place import Place
from penstock.errors import PlaceError, SourceError
from penstock.query.source import Source


@dataclass(frozen=True)
class FileInfo:
    """An input file; `mtime` in nanoseconds since the epoch, `size` in bytes."""

    path: str
    mtime: int
    size: int


def list_files(path: str, place: errors.Caret | None = None) -> list[FileInfo]:
    """The files of a directory (with all below it), a glob pattern, or a single file; oldest first.

    A name that begins with `.` or `_` hides a file or directory below the path. `path` may be a
    URI; `place` is where the query says it. The paths are absolute, for workers run elsewhere.
    """
    root = _placed(path, place)
    try:
        found = list(_found(root))
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(root, str(error), place) from error
    except PlaceError as error:
        raise _unreadable(root, error.message, place) from error
    return sorted(found, key=lambda info: (info.mtime, info.path))


def absolute(source: Source) -> Source:
    """A source whose path means the same to every process, wherever it was started."""
    if source.path is None:
        return source
    return replace(source, path=_placed(source.path, source.places.get("path")).text)


def _placed(path: str, place: errors.Caret | None) -> Place:
    try:
        return Place.of(path)
    except PlaceError as error:
        raise SourceError(error.message, place=place, hint=error.hint) from None


def _found(root: Place) -> Iterator[FileInfo]:
    if root.is_local and glob.has_magic(root.path) and not os.path.exists(root):
        fixed = _fixed_part(root.path)
        for match in glob.iglob(root.path, recursive=True):
            below = os.path.relpath(match, fixed)
            if not _is_hidden(below):
                yield from _below(Place(root.scheme, "", Place.of(match).names, root.options))
        return
    if not root.exists:
        raise FileNotFoundError("there is no such file or directory")
    yield from _below(root)


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
    return FileInfo(place.text, info.mtime_ns or 0, info.size or 0)


def _fixed_part(pattern: str) -> str:
    """The directory of a pattern that no wildcard is in; it must exist."""
    parts = pattern.split(os.sep)
    magic = next(i for i, part in enumerate(parts) if glob.has_magic(part))
    fixed = os.sep.join(parts[:magic]) or (os.sep if pattern.startswith(os.sep) else os.curdir)
    os.stat(fixed)
    return fixed


def _is_hidden(below: str) -> bool:
    return any(part.startswith((".", "_")) for part in below.split("/"))


def _unreadable(path: Place, reason: str, place: errors.Caret | None) -> SourceError:
    return SourceError(
        f"cannot read {path}: {reason}",
        place=place,
        hint="the path must be a file, a directory, a pattern such as 'logs/*.csv', or a URI",
    )
