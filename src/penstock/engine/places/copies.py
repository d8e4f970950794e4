"""Copies: files of stores on this machine's own disk, so that they are fetched once.

Only files whose names are used once have copies, so that none is ever stale. They are bounded by
bytes, those that were used last stay longest, and nothing depends on them: whoever reads one checks
what it holds, and one that is gone or damaged is fetched again.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

import pyarrow as pa

from penstock.atomic import draft_of
from penstock.engine.places.place import Place

FOLDER = "PENSTOCK_CACHE"
"""The variable that says where copies lie; the default is below the temporary folder."""
BYTES = "PENSTOCK_CACHE_BYTES"
"""The variable that says how much they may take together; 0 for none."""
_SHARE = 4
"""Without it they may take one part in so many of the free space of the disk."""
_LOOKS = 16
"""Parts of the bound that are added between two looks at the folder, which processes share."""
_PRIVATE = 0o700


class Copies:
    """Copies in one folder, which several processes of a user share."""

    def __init__(self, folder: Path, most: int):
        self._folder = folder
        self._most = most
        self._added = most  # So that the first one looks at what is there.

    def read(self, place: Place) -> pa.Buffer | None:
        """A copy, mapped into memory; None if there is none."""
        path = self._path(place)
        try:
            os.utime(path)
            with pa.memory_map(str(path)) as file:
                return file.read_buffer()
        except (OSError, pa.ArrowException):
            return None

    def keep(self, place: Place, data: pa.Buffer) -> None:
        """Have a copy from now on, if there is room: it is never needed."""
        if data.size > self._most:
            return
        path = self._path(place)
        with suppress(OSError):
            path.parent.mkdir(_PRIVATE, parents=True, exist_ok=True)
            with draft_of(path) as draft:
                draft.write_bytes(data)
            self._added += data.size
            if self._added * _LOOKS > self._most:
                self._added = 0
                self._shrink()

    def drop(self, place: Place) -> None:
        """Have no copy of a file that nobody reads any more."""
        with suppress(OSError):
            self._path(place).unlink()

    def has(self, place: Place) -> bool:
        """Whether there is a copy."""
        return self._path(place).exists()

    def _path(self, place: Place) -> Path:
        return self._folder / sha256(place.where.encode()).hexdigest()

    def _shrink(self) -> None:
        """Delete the copies that were not used for longest, until the rest is small enough."""
        found = []
        for entry in os.scandir(self._folder):
            with suppress(FileNotFoundError):
                about = entry.stat()
                found.append((about.st_mtime_ns, about.st_size, entry.path))
        total = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if total <= self._most:
                return
            with suppress(OSError):
                os.unlink(path)
            total -= size


@cache
def copies() -> Copies:
    """The copies of this machine, where the environment says that they are to lie."""
    default = Path(tempfile.gettempdir()) / f"penstock-{os.getuid()}" / "chunks"
    given = os.environ.get(FOLDER)
    folder = _own(default) if given is None else Path(given)
    bound = os.environ.get(BYTES, "")
    return Copies(folder, int(bound) if bound.isdecimal() else _room(folder))


def _own(folder: Path) -> Path:
    """A folder that is the user's; a new one, if somebody else's stands in its place."""
    with suppress(OSError):
        folder.parent.mkdir(_PRIVATE, exist_ok=True)
        found = os.lstat(folder.parent)
        if not folder.parent.is_symlink() and found.st_uid == os.getuid():
            return folder
    return Path(tempfile.mkdtemp(prefix="penstock-"))


def _room(folder: Path) -> int:
    nearest = next(each for each in (folder, *folder.parents) if each.exists())
    found = os.statvfs(nearest)
    return found.f_bavail * found.f_frsize // _SHARE
