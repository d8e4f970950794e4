"""Appending to a file so that what a batch adds is there once, however often it is tried."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

from pyarrow import fs

from penstock.engine.places import disk
from penstock.engine.places.flushing import flush_path
from penstock.engine.places.place import Place
from penstock.engine.places.signing import is_signed, sign
from penstock.errors import SinkError

# File systems without hard links (some network mounts) answer with one of these.
NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EXDEV, errno.EMLINK)


def make_way(file: Place, overwrite: bool) -> bool:
    """Have no such file, or an empty one, and tell whether that is so."""
    if is_in_the_way(file, overwrite):
        return False
    if file.info().size:
        disk.unlink(file.path)
    return True


def is_in_the_way(file: Place, overwrite: bool) -> bool:
    """Whether a file holds what may not be overwritten; an error if it never may be, since it is
    not Penstock's own."""
    info = file.info()
    if info.type != fs.FileType.File or not info.size:
        return False
    _refuse_foreign(file)
    return not overwrite


def _refuse_foreign(file: Place) -> None:
    if not is_signed(file):
        raise SinkError(
            f"{file} holds data that Penstock did not write, and does not replace",
            hint="name another file, or move it away",
        )


def append(
    file: Place,
    before: int,
    after: int,
    parts: Iterable[AbstractContextManager[Any]] | None,
    begun: Place | None = None,
) -> None:
    """Have a file that was so many bytes long before a batch hold what the batch adds.

    `parts` are what it adds, up to `after` bytes; None if they are gone, as once appended: what
    became of the file since is up to whoever has it. `begun` is a name that the file gets beside
    its own before that: if somebody moves it before all is there, it is found again. A file that
    is begun is signed.
    """
    is_new = not os.path.exists(file)
    length = 0 if is_new else os.path.getsize(file)
    if parts is None and (after or not is_new):
        return
    if begun is not None and _was_moved(begun, file):
        _write_parts(begun, before, after, parts or ())
        return
    if before == after == length and not is_new:
        return
    disk.make_folders(file.parent)
    if begun is not None and before < after:
        disk.append(file.path, b"")
        _note_begun(file, begun)
    start = _write_parts(file, before, after, parts or ())
    if start == 0 < after and os.path.isfile(file):
        sign(file)
    if is_new:
        flush_path(file.parent.path)


def _note_begun(file: Place, begun: Place) -> None:
    """Give a file its other name, which a power cut leaves: what was staged may then be back."""
    if os.path.exists(begun):
        disk.unlink(begun.path)  # One that somebody has deleted since.
    try:
        disk.link(file.path, begun.path)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
    disk.flush(begun.parent.path)


def _was_moved(begun: Place, file: Place) -> bool:
    """Whether a file that a batch was begun in has another name by now."""
    try:
        found = os.stat(begun)
    except FileNotFoundError:
        return False
    is_there = os.path.exists(file) and os.path.samestat(found, os.stat(file))
    return found.st_nlink > 1 and not is_there


def _write_parts(
    file: Place, before: int, after: int, parts: Iterable[AbstractContextManager[Any]]
) -> int:
    """Write to the end of a file, and flush it; from which byte on.

    What is there of the batch is written again: after a power cut its length tells nothing of its
    bytes. A file of another length was put there in its place: that is the user's too.
    """
    length = os.path.getsize(file) if os.path.exists(file) else 0
    start = before if before <= length <= after else length
    disk.write_from(file.path, start, parts)
    return start


def cut_back(file: Place, length: int, *, overwrite: bool) -> int:
    """The length of a file that held so many bytes after the last batch: less, if somebody has put
    another in its place. More is not to be told from results of a run that had come further, and
    cut off if they may be overwritten; but a file that Penstock has not begun is left alone."""
    found = os.path.getsize(file) if os.path.exists(file) else 0
    if found <= length:
        return found
    if not overwrite:
        raise SinkError(
            f"{file} is not as the last batch left it: {found:,} bytes, not {length:,}",
            hint="results of a run that had come further, or lines of somebody's: move it away, "
            "or --overwrite what is too much",
        )
    _refuse_foreign(file)
    disk.truncate(file.path, length)
    return length
