"""The state of a batch in a file, where it is too large to be sent to every task: a task fetches
the chunks of its own partitions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from penstock.engine.places.file_names import unique_name
from penstock.engine.places.place import Place
from penstock.engine.state.listing.segments import Segments
from penstock.engine.state.modules import Module, Modules
from penstock.engine.state.store import ChunkInfo

LARGE = 512
"""Chunks above which a state is not sent along with the work."""

Infos = tuple[ChunkInfo, ...]


def is_large(modules: Modules) -> bool:
    """Whether a state has more chunks than are sent to every task."""
    listed = 0
    for partitions in modules.values():
        listed += sum(map(len, partitions.values()))
    return listed > LARGE


@dataclass(frozen=True)
class FiledState(Mapping[Module, Mapping[int, Infos]]):
    """Chunks by module and partition, in a file with a piece for each task.

    Partition p is in the piece of task p modulo their number. What a process has fetched it keeps;
    what travels is only where the file is.
    """

    segments: Segments
    modules: tuple[Module, ...]
    _fetched: dict[int, dict[Module, dict[int, Infos]]] = field(
        default_factory=dict, compare=False, repr=False
    )

    @classmethod
    def write(cls, root: Place, folder: str, state: Modules, tasks: int) -> FiledState:
        """Write a state to a new file in a folder."""
        modules = tuple(state)
        pieces: list[list[str]] = [[] for _ in range(tasks)]
        for number, module in enumerate(modules):
            for pid, chunks in state[module].items():
                listed = ",".join([chunk.text for chunk in chunks])
                pieces[pid % tasks].append(f"[{number},{pid},[{listed}]]")
        data = [f"[{','.join(piece)}]".encode() for piece in pieces]
        return cls(Segments.write(root, f"{folder}/{unique_name()}", data), modules)

    def __reduce__(self) -> tuple[type[FiledState], tuple[Segments, tuple[Module, ...]]]:
        return FiledState, (self.segments, self.modules)

    def __getitem__(self, module: Module) -> FiledModule:
        if module not in self._known:
            raise KeyError(module)
        return FiledModule(self, module)

    def __iter__(self) -> Iterator[Module]:
        return iter(self.modules)

    def __len__(self) -> int:
        return len(self.modules)

    @cached_property
    def _known(self) -> frozenset[Module]:
        return frozenset(self.modules)

    def piece(self, number: int) -> dict[Module, dict[int, Infos]]:
        """The partitions of one task."""
        if number not in self._fetched:
            self._fetched[number] = self._read(self.segments.read(number))
        return self._fetched[number]

    def pieces(self) -> Iterable[dict[Module, dict[int, Infos]]]:
        """The partitions of all tasks."""
        if len(self._fetched) < self.segments.count:
            self._fetched.update(enumerate(map(self._read, self.segments.read_all())))
        return self._fetched.values()

    def _read(self, data: bytes) -> dict[Module, dict[int, Infos]]:
        found: dict[Module, dict[int, Infos]] = {}
        for module, pid, rows in json.loads(data):
            chunks = tuple(ChunkInfo(*row) for row in rows)
            found.setdefault(self.modules[module], {})[pid] = chunks
        return found


@dataclass(frozen=True)
class FiledModule(Mapping[int, Infos]):
    """The partitions of one module in such a file."""

    state: FiledState
    module: Module

    def __getitem__(self, pid: int) -> Infos:
        return self.state.piece(pid % self.state.segments.count).get(self.module, {})[pid]

    def __iter__(self) -> Iterator[int]:
        for piece in self.state.pieces():
            yield from piece.get(self.module, ())

    def __len__(self) -> int:
        return sum(1 for _ in self)
