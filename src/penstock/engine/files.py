"""Input files: which there are under a path, and how to open them."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

import pyarrow as pa
from pyarrow import fs

from penstock.errors import Place, SourceError


@dataclass(frozen=True)
class FileInfo:
    """An input file; `mtime` in nanoseconds since the epoch, `size` in bytes."""

    path: str
    mtime: int
    size: int


def list_files(path: str, place: Place | None = None) -> list[FileInfo]:
    """The files of a directory (with all below it), a glob pattern, or a single file; oldest first.

    A name that begins with `.` or `_` hides a file or directory below the path. `path` may be a
    URI; `place` is where the query says it. The paths are absolute, for workers run elsewhere.
    """
    try:
        found = list(_found(path))
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(path, str(error), place) from error
    return sorted(found, key=lambda info: (info.mtime, info.path))


def resolve(path: str) -> tuple[fs.FileSystem, str]:
    """The file system of a path or URI, and the path in it."""
    if "://" in path:
        system, inner = fs.FileSystem.from_uri(path)
        return system, inner
    return fs.LocalFileSystem(), path


def _found(path: str) -> Iterator[FileInfo]:
    system, inner = resolve(path)
    is_local = isinstance(system, fs.LocalFileSystem)
    if is_local and glob.has_magic(inner) and not os.path.exists(inner):
        fixed = _fixed_part(inner)
        matches = glob.iglob(inner, recursive=True)
        shown = [match for match in matches if not _is_hidden(os.path.relpath(match, fixed))]
        for root in system.get_file_info([os.path.abspath(match) for match in shown]):
            yield from _below(system, root, root.path)
        return
    inner = os.path.abspath(inner) if is_local else inner
    (root,) = system.get_file_info([inner])
    if root.type is fs.FileType.NotFound:
        raise FileNotFoundError("there is no such file or directory")
    yield from _below(system, root, inner if is_local else path)


def _below(system: fs.FileSystem, root: fs.FileInfo, shown: str) -> Iterator[FileInfo]:
    """The files at or below a path; `shown` is that path as it must be given to open it."""
    if root.type is fs.FileType.File:
        yield _info(root, shown)
    if root.type is not fs.FileType.Directory:
        return
    for info in system.get_file_info(fs.FileSelector(root.path, recursive=True)):
        below = info.path[len(root.path) :].lstrip("/")
        if info.type is fs.FileType.File and not _is_hidden(below):
            yield _info(info, _joined(shown, below))


def _joined(shown: str, below: str) -> str:
    """The path or URI of something below it; a URI's options stay at its end."""
    if "://" not in shown:
        return os.path.join(shown, below)
    base, mark, options = shown.partition("?")
    return f"{base.rstrip('/')}/{quote(below)}{mark}{options}"


def _info(info: fs.FileInfo, path: str) -> FileInfo:
    return FileInfo(path, info.mtime_ns or 0, info.size or 0)


def _fixed_part(pattern: str) -> str:
    """The directory of a pattern that no wildcard is in; it must exist."""
    parts = pattern.split(os.sep)
    magic = next(i for i, part in enumerate(parts) if glob.has_magic(part))
    fixed = os.sep.join(parts[:magic]) or (os.sep if pattern.startswith(os.sep) else os.curdir)
    os.stat(fixed)
    return fixed


def _is_hidden(below: str) -> bool:
    return any(part.startswith((".", "_")) for part in below.split("/"))


def _unreadable(path: str, reason: str, place: Place | None) -> SourceError:
    return SourceError(
        f"cannot read {path}: {reason}",
        place=place,
        hint="the path must be a file, a directory, a pattern such as 'logs/*.csv', or a URI",
    )
