"""Roots: the folders that a script which nobody vouches for may touch."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from glob import glob

from penstock.engine.places.place import Place

_PATTERN = re.compile(r"[*?\[{]")


@dataclass(frozen=True)
class Roots:
    """Folders, of this machine or of stores; what is below them may be read and written."""

    folders: tuple[Place, ...]

    @classmethod
    def of(cls, paths: Iterable[str | os.PathLike[str]]) -> Roots:
        return cls(tuple(map(Place.of, paths)))

    def __str__(self) -> str:
        return ", ".join(map(str, self.folders))

    def stray(self, path: str) -> str | None:
        """What a path or pattern leads to outside of the folders; None if nothing is.

        Links count for where they lead, those inside of its folders too, as they are now.
        """
        place = Place.of(path)
        if not place.is_local:
            return None if self._has(place) else path
        # Places are without `..`, where the system would follow a link before it.
        ways = [place.path] if path.startswith("file:") else [place.path, path]
        reached = (each for way in ways for each in _reached(way))
        return next((each for each in reached if not self._has(_real(each))), None)

    def _has(self, place: Place) -> bool:
        above = [place]
        while above[-1].names:
            above.append(above[-1].parent)
        folders = {_real(each.path) if each.is_local else each for each in self.folders}
        return not folders.isdisjoint(above)


def _real(path: str) -> Place:
    return Place.of(os.path.realpath(path))


def _reached(path: str) -> Iterator[str]:
    """The files and folders that a path or pattern stands for, and the links below them."""
    fixed = _PATTERN.split(path, maxsplit=1)[0]
    yield path if os.path.lexists(path) or fixed == path else os.path.dirname(fixed) or "."
    for found in {path, *glob(path, recursive=True, include_hidden=True)}:
        if os.path.lexists(found):
            yield found
        for folder, folders, files in os.walk(found):
            below = (os.path.join(folder, name) for name in (*folders, *files))
            yield from filter(os.path.islink, below)
