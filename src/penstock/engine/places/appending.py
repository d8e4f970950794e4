"""Appending to a file so that what a batch adds is there once, however often it is tried."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

from pyarrow import fs

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

    `parts` are what it adds, up to `after` bytes; None if they are gone, as once appended.
    """
    length = os.path.getsize(file) if os.path.exists(file) else 0
    if length == after and os.path.exists(file):
        return
    # Only what was cut off in the middle may be cut off the file and put there again.
    if length < before or (length != after and parts is None):
        raise SinkError(
            f"{file} is not as the last batch left it: {length:,} bytes, not {after:,}",
            hint="somebody has changed it; restore it, or start anew with another --checkpoint",
        )
    os.makedirs(file.parent, exist_ok=True)
    with open(file, "r+b" if os.path.exists(file) else "w+b") as opened:
        opened.truncate(before)
        opened.seek(before)
        for part in parts or ():
            with part as staged:
                shutil.copyfileobj(staged, opened)
        opened.flush()
        os.fsync(opened.fileno())


def _holds_json_lines(file: Place) -> bool:
    with open(file, "rb") as opened:
        line = opened.readline(_FIRST_BYTES)
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
