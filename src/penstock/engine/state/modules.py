"""Modules: the named parts of the state, by which manifests list its chunks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

from penstock.engine.state.store import ChunkInfo

_PENDING = "pending"
_RING = "ring"


@dataclass(frozen=True)
class Module:
    """A part of the state with a name of its own.

    Manifests have its text, which is therefore the same in all versions: `A@0` is what is kept of
    input A in space 0, `(A B)@1` of an inner join; `pending:A` and `ring:A` belong to the
    sequencer, `changes` to it and to a view, `calendar`, `shown` and `rows` to a view.
    """

    text: str

    def __str__(self) -> str:
        return self.text

    def __hash__(self) -> int:
        return hash(self.text)

    @classmethod
    def kept(cls, name: str, space: int) -> Module:
        """The tuples of an input, or the results of an inner join, in a space."""
        return cls(f"{name}@{space}")

    @classmethod
    def pending(cls, alias: str) -> Module:
        """The tuples of an input that wait for the frontier."""
        return cls(f"{_PENDING}:{alias}")

    @classmethod
    def ring(cls, alias: str) -> Module:
        """The tuples in the ROWS window of an input."""
        return cls(f"{_RING}:{alias}")

    @property
    def place(self) -> tuple[str, int] | None:
        """The input or inner join and the space, if it is kept in one."""
        name, at, space = self.text.rpartition("@")
        return (name, int(space)) if at and space.isdecimal() else None

    def folders(self, pid: int) -> tuple[str, str]:
        """The folders of the chunks that belong to a partition."""
        kind, colon, alias = self.text.partition(":")
        if colon and kind in (_PENDING, _RING) and self.place is None:
            return kind, alias
        return self.text, str(pid)


Modules = Mapping[Module, Mapping[int, tuple[ChunkInfo, ...]]]
"""The chunks of a state by module and partition."""


def sizes_of(partitions: Iterable[tuple[ChunkInfo, ...]]) -> tuple[int, int]:
    """The rows and the bytes of all chunks of some partitions."""
    rows = size = 0
    for chunk in chain.from_iterable(partitions):
        rows += chunk.rows
        size += chunk.size
    return rows, size


INTERVALS = Module("calendar")
"""The interval table of a view: sums of each group by the ticks at which they are seen."""

SHOWN = Module("shown")
"""The last results of each group of a view."""

ALL_ROWS = Module("rows")
"""The last rows of all groups of a view of which only the first are shown."""

CHANGES = Module("changes")
"""The keys of a view over ROWS windows that change at ticks to come."""
