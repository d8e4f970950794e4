"""Writing a report log: lines into segments, and the oldest segments away."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

from penstock.engine.places import disk
from penstock.engine.reports.entries import Entry, written
from penstock.engine.reports.run_head import (
    BEAT,
    RunHead,
    beaten,
    left_drafts,
    write_head,
)
from penstock.engine.reports.segments import (
    lines_of,
    segment_name,
    segment_number,
    segments,
)
from penstock.engine.state.store import Store

_MIB = 1 << 20


@dataclass(frozen=True)
class Bounds:
    """How large a report log may become, in bytes.

    Object stores cannot append: there a segment is written anew with every few lines, and so is
    smaller.
    """

    segment: int = _MIB
    remote_segment: int = _MIB // 4
    most: int = 16 * _MIB
    """Of all segments: some thousand batches, which is hours at a batch a second."""

    segments: int = 256
    """Files at most, where runs are short."""


class LogWriter:
    """Appends to the last segment, from the first entry on; not to be shared by threads."""

    def __init__(self, store: Store, bounds: Bounds):
        self._store = store
        self._bounds = bounds
        self._most = bounds.segment if store.is_local else bounds.remote_segment
        self._sizes: dict[str, int] | None = None
        self._name = ""
        self._is_whole = True
        self._buffer = b""
        self._head: RunHead | None = None

    def write(self, entries: Iterable[Entry]) -> None:
        """Have entries in the log; OSError or StateError if that cannot be."""
        sizes = self._begin() if self._sizes is None else self._sizes
        for lines in self._split(b"".join(map(written, entries)).splitlines(keepends=True)):
            if self._store.is_local:
                self._append(lines)
            else:
                self._buffer += lines
                self._store.replace(self._name, self._buffer)
            sizes[self._name] = sizes.get(self._name, 0) + len(lines)
        self._shorten(sizes)

    def head(self, head: RunHead) -> None:
        """Say what runs here; where no lock tells that it does, also when that was seen."""
        self._head = head if self._store.is_local else beaten(head, time.time())
        write_head(self._store, self._head)

    def beat(self) -> None:
        """Give a sign of life, where one is due."""
        head, now = self._head, time.time()
        if head is not None and head.seen_at is not None and now - head.seen_at >= BEAT:
            self.head(head)

    def end(self, error: str | None) -> None:
        """Say that the run is over."""
        if self._head is not None:
            write_head(self._store, replace(self._head, ended_at=time.time(), error=error))

    def _begin(self) -> dict[str, int]:
        """Go on with the last segment of an earlier run; where that was cut off, on a new line."""
        self._store.remove(left_drafts(self._store))
        sizes = segments(self._store)
        self._name = next(reversed(sizes), segment_name(0))
        if sizes:
            lines = lines_of(self._store, self._name)
            self._is_whole = not lines or lines[-1].endswith(b"\n")
            self._buffer = b"".join(lines) + (b"" if self._is_whole else b"\n")
        # Only now: what could not be read must not be written over.
        self._sizes = sizes
        return sizes

    def _split(self, lines: list[bytes]) -> Iterable[bytes]:
        """Lines together, as many as go into a segment; with the next ones begins another."""
        group, sizes = b"", self._sizes or {}
        for line in lines:
            held = sizes.get(self._name, 0) + len(group)
            if held and held + len(line) > self._most:
                if group:
                    yield group
                self._name, self._buffer = segment_name(segment_number(self._name) + 1), b""
                self._is_whole, group = True, b""
            group += line
        yield group

    def _append(self, lines: bytes) -> None:
        place = self._store.root / self._name
        if not os.path.isdir(place.parent):
            disk.make_folders(place.parent)
        whole = b"" if self._is_whole else b"\n"
        self._is_whole = False  # Until all is written: the disk may be full.
        disk.append(place.path, whole + lines)
        self._is_whole = True

    def _shorten(self, sizes: dict[str, int]) -> None:
        """Delete the oldest segments, never the last one, until the rest is small enough."""
        excess = []
        while len(sizes) > 1 and (
            sum(sizes.values()) > self._bounds.most or len(sizes) > self._bounds.segments
        ):
            oldest = next(iter(sizes))
            excess.append(oldest)
            del sizes[oldest]
        if excess:
            self._store.remove(excess)
