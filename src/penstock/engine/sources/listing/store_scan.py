"""Store scan: the files of an object store that nobody knows, mostly without listing the others."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.engine.places.place import Place
from penstock.engine.sources.files import FileInfo, objects_below

_WHOLE = 16
"""Of so many looks one is at all files: names need not come in their order."""


class StoreScan:
    """Looks for new files below a place, again and again.

    A store lists files by name, and begins after any: where new files have later names, as most
    writers give them, a look costs what is new. Others are found by the next look at all.
    """

    def __init__(self, root: Place):
        self._root = root
        self._last: str | None = None
        self._looks = 0

    def files(self, *, is_whole: bool) -> Iterator[FileInfo]:
        """The files below the place: all, or perhaps only those after the last name that was
        seen."""
        is_part = not is_whole and self._last is not None and self._looks % _WHOLE != 0
        self._looks += 1
        for name, file in objects_below(self._root, self._last if is_part else None):
            self._last = name if self._last is None else max(self._last, name)
            yield file
