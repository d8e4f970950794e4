"""Signing files of lines: which of them are Penstock's own, whichever checkpoint wrote them.

Lines look like anybody's, so a hidden file beside them says which line they began with. A file that
begins otherwise was put there since, and is somebody else's.
"""

from __future__ import annotations

import json
from hashlib import sha256

from penstock.engine.places import disk
from penstock.engine.places.file_names import signature_name
from penstock.engine.places.place import Place

_FIRST = "first line"
# What is read of a first line; a row is shorter.
_MOST_BYTES = 1 << 20


def sign(file: Place) -> None:
    """Say beside a file that Penstock has begun it, with the line that it begins with."""
    content = {"written by": "penstock", _FIRST: _first_line(file)}
    disk.write_flushed(_signature(file), json.dumps(content).encode())


def is_signed(file: Place) -> bool:
    """Whether a file begins with the line that Penstock has begun it with."""
    try:
        with open(_signature(file), "rb") as opened:
            content = json.load(opened)
    except (FileNotFoundError, ValueError):
        return False
    return isinstance(content, dict) and content.get(_FIRST) == _first_line(file)


def _signature(file: Place) -> Place:
    return file.parent / signature_name(file.name)


def _first_line(file: Place) -> str:
    with open(file, "rb") as opened:
        return sha256(opened.readline(_MOST_BYTES)).hexdigest()
