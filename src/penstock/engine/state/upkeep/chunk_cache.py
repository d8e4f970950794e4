"""The cache of opened chunks: those that a process reads again in every batch, checked once.

A chunk is mapped for as long as it is open, also when its file has been deleted since. So the cache
is bounded by bytes, and lets go of chunks whose files are gone: no manifest lists them any more.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from functools import cache
from threading import Lock

from penstock.engine.places.place import Place
from penstock.engine.state.store import Chunk, ChunkInfo, read_rows

_SHARE = 4
"""Chunks may take one part in so many of a machine's memory, in all its processes together."""
_LEAST = 256 << 20
_LOOKS = 16
"""Chunks that are opened between two looks for files that are gone."""

Key = tuple[Place, str, int | None]
"""The checkpoint, the chunk's name, and the key by which it is probed."""


class ChunkCache:
    """Opened chunks with their bytes, those that were used last at the end."""

    def __init__(self, most: int):
        """A cache of so many bytes; a chunk that is larger by itself stays until another comes."""
        self.bytes = 0
        self._most = most
        self._open: OrderedDict[Key, tuple[Chunk, int]] = OrderedDict()
        self._lock = Lock()
        self._opened = 0

    def __len__(self) -> int:
        return len(self._open)

    def chunk(self, root: Place, info: ChunkInfo, key: int | None) -> Chunk:
        """A chunk, opened and checked if it is not here."""
        wanted = (root, info.name, key)
        with self._lock:
            if wanted in self._open:
                self._open.move_to_end(wanted)
                return self._open[wanted][0]
        found = Chunk.of(read_rows(root, info), key)
        with self._lock:
            self._enter(wanted, found, info.size)
        return found

    def _enter(self, key: Key, chunk: Chunk, size: int) -> None:
        self._drop(key)
        self._open[key] = (chunk, size)
        self.bytes += size
        self._opened += 1
        if self._opened % _LOOKS == 0:
            for each in [each for each in self._open if _is_gone(each)]:
                self._drop(each)
        while self.bytes > self._most and len(self._open) > 1:
            self._drop(next(iter(self._open)))

    def _drop(self, key: Key) -> None:
        _, size = self._open.pop(key, (None, 0))
        self.bytes -= size


def _is_gone(key: Key) -> bool:
    """Whether a local file was deleted. Elsewhere looking takes long, and a copy that is gone may
    be one that had no room: what is open stays until others need its place."""
    root, name, _ = key
    return root.is_local and not os.path.exists(root / name)


@cache
def opened_chunks() -> ChunkCache:
    """The chunks that this process has opened."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return ChunkCache(max(_LEAST, memory // (_SHARE * (os.cpu_count() or 1))))


def open_chunk(root: Place, info: ChunkInfo, key: int | None) -> Chunk:
    """A chunk that a manifest lists, checked against its checksum the first time it is opened."""
    return opened_chunks().chunk(root, info, key)
