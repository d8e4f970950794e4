"""Segments: the files of a source as the checkpoint has them, in files of ever larger spans."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import takewhile

from penstock.engine.sources.files import FileInfo
from penstock.engine.state.store import RESTORE, Store
from penstock.errors import CheckpointError, FencedError

# Segments of about one size before they become one; so a file is written down again only as often
# as the logarithm of all of them to this base.
_TOGETHER = 64
# How often segments are put together: what is old is forgotten by whole segments.
_TIERS = 2
_AGAIN = "again.json"


@dataclass(frozen=True)
class Segment:
    """Files by number, from `first` to before `last`; their paths begin with `root`."""

    first: int
    last: int
    root: str
    files: tuple[FileInfo, ...]

    def encoded(self, epoch: int = 0) -> bytes:
        """As it is written; with the epoch of the run, no two runs write the same bytes."""
        names = [file.path.removeprefix(self.root) for file in self.files]
        whole = all(file.path.startswith(self.root) for file in self.files)
        columns: dict[str, object] = {
            "root": self.root if whole else "",
            "names": names if whole else [file.path for file in self.files],
            "mtimes": [file.mtime for file in self.files],
            "sizes": [file.size for file in self.files],
            "inodes": [file.inode for file in self.files],
        }
        if any(file.etag for file in self.files):
            columns["etags"] = [file.etag for file in self.files]
        columns |= {"epoch": epoch} if epoch else {}
        return zlib.compress(json.dumps(columns, separators=(",", ":")).encode())

    @classmethod
    def decoded(cls, span: tuple[int, int], data: bytes) -> Segment:
        """One as it was written, by this version or an earlier one, which did not say the root."""
        if data[:1] == b"[":
            return cls(*span, "", tuple(FileInfo(**file) for file in json.loads(data)))
        found = json.loads(zlib.decompress(data))
        root = str(found["root"])
        columns = [found[name] for name in ("names", "mtimes", "sizes", "inodes")]
        rows = zip(*columns, *([found["etags"]] if "etags" in found else ()), strict=True)
        return cls(*span, root, tuple(FileInfo(root + name, *rest) for name, *rest in rows))


class Segments:
    """The segments of one source, in a folder of the checkpoint."""

    def __init__(self, store: Store, folder: str):
        self._store = store
        self._folder = folder
        self._spans: list[tuple[int, int]] = []

    @property
    def first(self) -> tuple[int, int] | None:
        """The span of the oldest, if there is one."""
        return self._spans[0] if self._spans else None

    def load(self) -> Iterator[Segment]:
        """All files, in their order; what a crash has left twice is read once."""
        spans = sorted(filter(None, map(span_of, self._store.names(self._folder))), key=_widest)
        count = spans[0][0] if spans else 0
        for first, last in spans:
            if last <= count:
                self._store.remove([self._name((first, last))])
                continue
            segment = self._read(first, last)
            if first > count or len(segment.files) != last - first:
                missing = f"files from number {count} on are not there"
                raise self._damaged(self._name((first, last)), missing)
            yield Segment(count, last, segment.root, segment.files[count - first :])
            self._spans.append((first, last))
            count = last

    def write(self, segment: Segment) -> None:
        """Write files down for good."""
        span = (segment.first, segment.last)
        self._store.publish(self._name(span), segment.encoded(self._epoch))
        self._refuse_fenced(span)
        self._spans.append(span)
        while together := self._alike():
            whole = reduce(_joined, [self._read(*each) for each in together])
            self._store.publish(self._name((whole.first, whole.last)), whole.encoded())
            self._spans = [*self._spans[: -len(together)], (whole.first, whole.last)]
            self._store.remove([self._name(each) for each in together])

    @property
    def _epoch(self) -> int:
        return 0 if self._store.fence is None else self._store.fence.epoch

    def _refuse_fenced(self, span: tuple[int, int]) -> None:
        """Take back what was written after another run has taken over: that may have numbered the
        same files otherwise, in a segment of another length."""
        try:
            self._store.refuse_fenced()
        except FencedError:
            self._store.root.delete([self._name(span)])
            raise

    def known_again(self) -> tuple[FileInfo, ...]:
        """The files that are known by another name or inode, too; paths are below the source's."""
        name = f"{self._folder}/{_AGAIN}"
        return self._decoded(name, (0, 0)).files if self._store.exists(name) else ()

    def write_known_again(self, files: tuple[FileInfo, ...]) -> None:
        """Write these down, in the place of those before."""
        whole = Segment(0, len(files), "", files)
        self._store.replace(f"{self._folder}/{_AGAIN}", whole.encoded())

    def remove_first(self) -> None:
        """Forget the oldest."""
        self._store.remove([self._name(self._spans.pop(0))])

    def _alike(self) -> Sequence[tuple[int, int]]:
        """The last segments of one size or smaller, if there are so many that they become one."""
        tiers = [_tier(*span) for span in self._spans[-2 * _TOGETHER :]]
        for tier in range(_TIERS):
            last = list(takewhile(tier.__ge__, reversed(tiers)))
            if last.count(tier) >= _TOGETHER or len(last) >= 2 * _TOGETHER:
                return self._spans[-len(last) :]
        return ()

    def _name(self, span: tuple[int, int]) -> str:
        return f"{self._folder}/{span[0]:012d}-{span[1]:012d}.json"

    def _read(self, first: int, last: int) -> Segment:
        return self._decoded(self._name((first, last)), (first, last))

    def _decoded(self, name: str, span: tuple[int, int]) -> Segment:
        try:
            return Segment.decoded(span, bytes(self._store.read(name)))
        except (ValueError, TypeError, KeyError, zlib.error) as error:
            raise self._damaged(name, str(error)) from None

    def _damaged(self, name: str, reason: str) -> CheckpointError:
        where = self._store.path(name)
        return CheckpointError(f"the file log {where} is damaged: {reason}", hint=RESTORE)


def span_of(name: str) -> tuple[int, int] | None:
    """The span of a segment by its name; None for other files."""
    stem, dot, ending = name.rsplit("/", 1)[-1].partition(".")
    first, _, last = stem.partition("-")
    is_span = first.isdigit() and last.isdigit() and dot + ending == ".json"
    return (int(first), int(last)) if is_span else None


def _widest(span: tuple[int, int]) -> tuple[int, int]:
    """An order in which a segment stands before all that it took the place of."""
    return span[0], -span[1]


def _joined(one: Segment, other: Segment) -> Segment:
    root = one.root if one.root == other.root else ""
    return Segment(one.first, other.last, root, (*one.files, *other.files))


def _tier(first: int, last: int) -> int:
    """How often segments of that size may have been put together."""
    tier, size = 0, last - first
    while size >= _TOGETHER:
        tier, size = tier + 1, size // _TOGETHER
    return tier
