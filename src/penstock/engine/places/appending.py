"""Appending to a file so that what a batch adds is there once, however often it is tried."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

from pyarrow import fs

from penstock.engine.places.flushing import flush_path
from penstock.engine.places.place import Place
from penstock.errors import SinkError

# What is read of a file to see whether it holds JSON lines; a row is shorter.
_FIRST_BYTES = 1 << 20


def make_way(file: Place, overwrite: bool) -> bool:
    """Have no such file, or an empty one, and tell whether that is so."""
    if is_in_the_way(file, overwrite):
        return False
    if file.info().size:
        os.unlink(file)
    return True


def is_in_the_way(file: Place, overwrite: bool) -> bool:
    """Whether a file holds what may not be overwritten; an error if it never may be.

    Only what holds JSON lines is overwritten.
    """
    info = file.info()
    if info.type != fs.FileType.File or not info.size:
        return False
    if overwrite and not _holds_json_lines(file):
        raise SinkError(
            f"{file} holds something else than JSON lines, so it is not replaced",
            hint="is it the file that you meant? Choose another place, or remove it yourself",
        )
    return not overwrite


def append(
    file: Place, before: int, after: int, parts: Iterable[AbstractContextManager[Any]] | None
) -> None:
    """Have a file that was so many bytes long before a batch hold what the batch adds.

    `parts` are what it adds, up to `after` bytes; None if they are gone, as once appended: what
    became of the file since is up to whoever has it.
    """
    is_new = not os.path.exists(file)
    length = 0 if is_new else os.path.getsize(file)
    if (parts is None and (after or not is_new)) or (length == after and not is_new):
        return
    # Only what was cut off in the middle may be cut off the file and put there again. One of
    # another length was put there in its place: that is the user's too.
    start = before if before <= length <= after else length
    os.makedirs(file.parent, exist_ok=True)
    with open(file, "w+b" if is_new else "r+b") as opened:
        opened.truncate(start)
        opened.seek(start)
        for part in parts or ():
            with part as staged:
                shutil.copyfileobj(staged, opened)
        opened.flush()
        os.fsync(opened.fileno())
    if is_new:
        flush_path(file.parent.path)


def cut_back(file: Place, length: int, *, overwrite: bool) -> int:
    """The length of a file that held so many bytes after the last batch: less, if somebody has put
    another in its place. More is not to be told from results of a run that had come further, and
    cut off if they may be overwritten."""
    found = os.path.getsize(file) if os.path.exists(file) else 0
    if found <= length:
        return found
    if not overwrite:
        raise SinkError(
            f"{file} is not as the last batch left it: {found:,} bytes, not {length:,}",
            hint="results of a run that had come further, or lines of somebody's: move it away, "
            "or --overwrite what is too much",
        )
    os.truncate(file, length)
    return length


def _holds_json_lines(file: Place) -> bool:
    with open(file, "rb") as opened:
        line = opened.readline(_FIRST_BYTES)
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
