"""Folder scan: the files of a local folder that nobody knows, without a look at all the others."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass

from penstock.engine.places import disk
from penstock.engine.sources.files import FileInfo

# Two changes within so many seconds may leave a folder with the same time: no file system counts
# more coarsely.
_GRAIN = 2.0


@dataclass(frozen=True)
class _Look:
    """A look at a folder: its time then, when we first saw that time, and what was below it."""

    mtime: int
    since: float
    is_final: bool
    folders: tuple[str, ...]


class FolderScan:
    """Looks for new files below a folder, again and again.

    A folder in which nothing has come or gone is not read again, and of a file that is known
    nothing is asked but its name: a look costs what is new, and little for each name.
    """

    def __init__(self, root: str):
        self.root = root
        self._looks: dict[str, _Look] = {}

    def unknown(
        self, inodes: dict[str, int], is_known: Callable[[str, int], bool], *, is_rough: bool
    ) -> Iterator[FileInfo]:
        """The files that are not known by their names below the root and `inodes`, nor otherwise
        (an inode of 0 says nothing); the inodes of those that are known are added.

        Whatever it gives must be known from then on, since it may not be given again. A rough look
        misses what has come within moments of the one before; the next finds that.
        """
        waiting, looks, met = [""], dict[str, _Look](), set[tuple[int, int]]()
        while waiting:
            below = waiting.pop()
            try:
                found = os.stat(os.path.join(self.root, below))
                if (found.st_dev, found.st_ino) in met:
                    continue  # A link to a folder that is read anyway, perhaps one around it.
                met.add((found.st_dev, found.st_ino))
                last, mtime = self._looks.get(below), found.st_mtime_ns
                if last is None or last.mtime != mtime or not (last.is_final or is_rough):
                    looks[below] = yield from self._look(below, mtime, last, inodes, is_known)
                else:
                    looks[below] = last
            except (FileNotFoundError, NotADirectoryError):
                if not below:
                    raise
                continue  # It has gone since the folder above it was read.
            waiting += looks[below].folders
        self._looks = looks

    def _look(
        self,
        below: str,
        mtime: int,
        last: _Look | None,
        inodes: dict[str, int],
        is_known: Callable[[str, int], bool],
    ) -> Generator[FileInfo, None, _Look]:
        """Read one folder."""
        now = time.monotonic()
        since = last.since if last is not None and last.mtime == mtime else now
        folders, has_links, above = [], False, f"{below}/" if below else ""
        with disk.entries(os.path.join(self.root, below)) as entries:
            for entry in entries:
                name = above + entry.name
                # There may be a million of these, so that nothing else is done for them.
                if inodes.get(name) == entry.inode() or entry.name[0] in "._":
                    continue
                is_link = entry.is_symlink()
                has_links = has_links or is_link
                if is_known(name, 0 if is_link else entry.inode()):
                    inodes[name] = 0 if is_link else entry.inode()
                elif entry.is_dir():
                    folders.append(name)
                elif (info := _info(entry)) is not None:
                    yield info
        # What a link leads to may come later, and the folder would not tell.
        return _Look(mtime, since, now - since > _GRAIN and not has_links, tuple(folders))


def _info(entry: os.DirEntry[str]) -> FileInfo | None:
    """A file; None for what is none, or has gone meanwhile."""
    try:
        found = entry.stat() if entry.is_file() else None
    except FileNotFoundError:
        return None
    if found is None:
        return None
    return FileInfo(entry.path, found.st_mtime_ns, found.st_size, found.st_ino)
