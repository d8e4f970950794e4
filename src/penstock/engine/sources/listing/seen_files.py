"""Seen files: what each known file was when it was found, so that it is known again elsewhere."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from enum import Enum
from itertools import takewhile

from penstock.engine.sources.files import FileInfo

_LAST = (1 << 63) - 1
# Files of which one look finds out whether they are still what they were.
_LOOKED_AT = 32


class Sight(Enum):
    """What a file is to those who have seen others."""

    NEW = "new"
    SAME = "same"
    """One that is known, perhaps by another path."""
    REWRITTEN = "rewritten"
    """One that is known, but holds something else by now."""


class SeenFiles:
    """Files by number, from `first` on: their names below the folder, times, sizes and inodes.

    A file is the one that was seen if it has the same inode, size and time, by whatever path; or
    the same name below the folder that is read, size and time, since a copy has other inodes.
    """

    def __init__(self) -> None:
        self.first = 0
        self.newest = 0
        """The highest time of a file, nanoseconds since the epoch."""
        self.inodes: dict[str, int] = {}
        """The inodes of files by name, of some that are known by other names too."""
        self._numbers: dict[str, int] = {}
        self._mtimes, self._sizes, self._inodes = array("q"), array("q"), array("Q")
        self._etags = array("q")
        self._elsewhere: set[int] = set()
        self._twins: set[int] = set()
        self._by_inode: dict[int, str] = {}
        self._other_names: dict[str, tuple[int, int]] = {}
        self._round: Iterator[str] = iter(())

    def __len__(self) -> int:
        return len(self._mtimes)

    @property
    def count(self) -> int:
        """How many have been seen in all, with those that are forgotten."""
        return self.first + len(self)

    def add(self, name: str, file: FileInfo, *, is_here: bool = True) -> None:
        """Take in the next file; `is_here` unless its name is below another folder than the one
        that is read now."""
        number = self.count
        self._numbers.pop(name, None)  # The names are in the order of the numbers.
        self._numbers[name] = number
        self._mtimes.append(_counted(file.mtime))
        self._sizes.append(file.size)
        self._inodes.append(file.inode)
        self._etags.append(_tag(file))
        if is_here:
            self.inodes[name] = file.inode
        else:
            self._elsewhere.add(number)
        if file.inode:
            self._twins.add(twin_of(file))
            self._by_inode[file.inode] = name
        self.newest = max(self.newest, file.mtime)

    def is_known(self, name: str, inode: int) -> bool:
        """Whether there is no need to look at a file of that name; an inode of 0 says nothing."""
        number = self._numbers.get(name)
        if number is None or number in self._elsewhere:
            return False
        known = self._inodes[number - self.first]
        return not inode or not known or inode == known

    def sight(self, name: str, file: FileInfo) -> Sight:
        """What a file of that name is."""
        number = self._numbers.get(name)
        if number is None:
            is_twin = file.inode and twin_of(file) in self._twins
            is_named = self._other_names.get(name) == (_counted(file.mtime), file.size)
            return Sight.SAME if is_twin or is_named else Sight.NEW
        if self._holds(number, file):
            return Sight.SAME
        return Sight.NEW if number in self._elsewhere else Sight.REWRITTEN

    def knows(self, name: str) -> bool:
        """Whether a file of that name was seen."""
        return name in self._numbers

    def name_of(self, inode: int) -> str | None:
        """The name by which a file with an inode was seen last, if it was: by now that may be the
        inode of another file."""
        return self._by_inode.get(inode)

    def number(self, name: str) -> int:
        """The number of a file that is known by its name."""
        return self._numbers[name]

    def renew(self, name: str, file: FileInfo) -> None:
        """Know a file by what it is now."""
        place = self._numbers[name] - self.first
        self._mtimes[place], self._sizes[place] = _counted(file.mtime), file.size
        self._inodes[place] = self.inodes[name] = file.inode
        self._etags[place] = _tag(file)
        if file.inode:
            self._twins.add(twin_of(file))
            self._by_inode[file.inode] = name
        self._elsewhere.discard(self._numbers[name])

    def know_again(self, name: str, file: FileInfo) -> None:
        """Know one that was seen by what it is called now, and by the inode that it has now."""
        if name not in self._numbers:
            self._other_names[name] = (_counted(file.mtime), file.size)
        if file.inode:
            self._twins.add(twin_of(file))

    def next_names(self) -> Iterator[str]:
        """Some names of files that are here, others each time, until all have had their turn."""
        for _ in range(min(_LOOKED_AT, len(self._numbers))):
            name = next(self._round, None)
            if name is None:
                self._round = iter(tuple(self._numbers))
                return
            if name in self._numbers and self._numbers[name] not in self._elsewhere:
                yield name

    def newest_of(self, first: int, last: int) -> int:
        """The highest time of some files by number."""
        return max(self._mtimes[first - self.first : last - self.first], default=0)

    def forget(self, last: int) -> list[str]:
        """Know nothing more of the files before a number; their names."""
        gone = [name for name, _ in takewhile(lambda item: item[1] < last, self._numbers.items())]
        for name in gone:
            inode = self._inodes[self._numbers[name] - self.first]
            if self._by_inode.get(inode) == name:
                del self._by_inode[inode]
            del self._numbers[name]
            self.inodes.pop(name, None)
        self._elsewhere = {number for number in self._elsewhere if number >= last}
        columns, count = (self._inodes, self._sizes, self._mtimes), last - self.first
        for each in zip(*(column[:count] for column in columns), strict=True):
            self._twins.discard(hash(each))
        for column in (*columns, self._etags):
            del column[:count]
        self.first = last
        return gone

    def _holds(self, number: int, file: FileInfo) -> bool:
        place = number - self.first
        known, found = self._etags[place], _tag(file)
        if known and found:
            # The same bytes that were put there again are the same file.
            return known == found and self._sizes[place] == file.size
        return self._mtimes[place] == _counted(file.mtime) and self._sizes[place] == file.size


def _tag(file: FileInfo) -> int:
    """What an object store knows a file by, as a number; 0 if nothing."""
    return hash(file.etag)


def twin_of(file: FileInfo) -> int:
    """A number that two paths to one file have in common."""
    return hash((file.inode, file.size, _counted(file.mtime)))


def _counted(mtime: int) -> int:
    """A time in nanoseconds that has room in 64 bits: beyond the year 2262 all are the same."""
    return max(-_LAST, min(mtime, _LAST))
