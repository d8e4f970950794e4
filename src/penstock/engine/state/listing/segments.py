"""Segments: many small pieces in one file, of which each reader fetches its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from penstock.engine.places.place import Place
from penstock.engine.state.store import Store, storage_errors

_WIDTH = 8
"""Bytes of an entry in the index before the pieces: where each begins, and where the last ends."""


@dataclass(frozen=True)
class Segments:
    """A file of `count` pieces below a folder. It is written once, and lives as long as a batch."""

    root: Place
    name: str
    count: int

    @classmethod
    def write(cls, root: Place, name: str, pieces: Sequence[bytes]) -> Segments:
        """Write pieces as a new file."""
        start = _WIDTH * (len(pieces) + 1)
        places = list(accumulate(map(len, pieces), initial=start))
        Store(root).write(name, b"".join((np.array(places, "<i8").tobytes(), *pieces)))
        return cls(root, name, len(pieces))

    def read(self, number: int) -> bytes:
        """One of the pieces; the others are not fetched."""
        place = self.root / self.name
        with (
            storage_errors("read", place.path),
            place.filesystem.open_input_file(place.path) as file,
        ):
            first, last = np.frombuffer(file.read_at(2 * _WIDTH, _WIDTH * number), "<i8").tolist()
            found: bytes = file.read_at(last - first, first)
            return found

    def read_all(self) -> list[bytes]:
        """All pieces."""
        data = bytes(Store(self.root).read(self.name))
        places = np.frombuffer(data[: _WIDTH * (self.count + 1)], "<i8").tolist()
        return [data[first:last] for first, last in pairwise(places)]

    def remove(self) -> None:
        """Delete the file."""
        Store(self.root).remove([self.name])
