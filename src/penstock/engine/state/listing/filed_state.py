"""The state of a batch in a file, where it is too large to be sent to every task: a task fetches
the chunks of its own partitions, and the names of those that it is to delete."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from json.encoder import encode_basestring_ascii

from penstock.engine.places.file_names import unique_name
from penstock.engine.places.place import Place
from penstock.engine.state.listing.segments import Segments
from penstock.engine.state.modules import Module, Modules
from penstock.engine.state.store import ChunkInfo, Store

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
    _litter: dict[int, list[str]] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def write(
        cls, root: Place, folder: str, state: Modules, tasks: int, litter: Iterable[str] = ()
    ) -> FiledState:
        """Write a state to a new file in a folder, with the names of chunks that tasks are to
        delete."""
        modules = tuple(state)
        pieces: list[list[str]] = [[] for _ in range(tasks)]
        names: list[list[str]] = [[] for _ in range(tasks)]
        for number, module in enumerate(modules):
            for pid, chunks in state[module].items():
                listed = ",".join([chunk.text for chunk in chunks])
                pieces[pid % tasks].append(f"[{number},{pid},[{listed}]]")
        for name in litter:
            names[_partition_of(name) % tasks].append(encode_basestring_ascii(name))
        data = [
            f"[{','.join(piece)}]\n[{','.join(mine)}]".encode()
            for piece, mine in zip(pieces, names, strict=True)
        ]
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
            self._keep(number, self.segments.read(number))
        return self._fetched[number]

    def tidy(self, pid: int) -> None:
        """Delete the chunks that are left to the task of a partition, if it has not done so."""
        number = pid % self.segments.count
        self.piece(number)
        Store(self.segments.root).remove(self._litter.pop(number, []))

    def pieces(self) -> Iterable[dict[Module, dict[int, Infos]]]:
        """The partitions of all tasks."""
        if len(self._fetched) < self.segments.count:
            for number, data in enumerate(self.segments.read_all()):
                self._keep(number, data)
        return self._fetched.values()

    def _keep(self, number: int, data: bytes) -> None:
        listed, _, litter = data.partition(b"\n")
        found: dict[Module, dict[int, Infos]] = {}
        for module, pid, rows in json.loads(listed):
            chunks = tuple(ChunkInfo(*row) for row in rows)
            found.setdefault(self.modules[module], {})[pid] = chunks
        self._fetched[number], self._litter[number] = found, json.loads(litter)


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


def _partition_of(name: str) -> int:
    """The partition whose folder a chunk is in: that it has left some says that it is busy. Of the
    others, which are few, any will do."""
    folder = name.rsplit("/", 2)[1]
    return int(folder) if folder.isdecimal() else 0
