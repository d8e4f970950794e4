"""Slices: the pieces of sources that tasks read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from penstock.engine.places.place import Place
from penstock.engine.sources.files import is_packed
from penstock.engine.sources.lines import END, PIECE_BYTES, WHOLE, Span
from penstock.engine.wire.facts import Woken
from penstock.engine.wire.packets import Packet, pack_fact
from penstock.engine.wire.tags import SLICE
from penstock.query.source import Source

# A file's number in its source and a row's place in the file make up the arrival number.
_ROW_BITS = 36
# A partition and an offset in it do so for a record: of half a million partitions, 17 million
# million records each.
_OFFSET_BITS = 44
# Bytes of a part below which another task costs more than it helps. Objects of JSON that go on over
# lines are read as long as a file is one piece.
_LEAST = {"csv": 1 << 20, "json": PIECE_BYTES}
# With twice as many parts as a fair share would be, tasks that get one more do little more.
_FINER = 2


def packets_of(slices: Sequence[Slice]) -> list[Packet]:
    """What the tasks of a batch get; where there is nothing to read, something that wakes them."""
    return [piece.packet(0) for piece in slices] or [pack_fact(0, Woken())]


@dataclass(frozen=True)
class Slice:
    """A piece of a source that one task reads.

    It is a file, or the lines of it that begin from byte `first` to before byte `last`; a run of
    made-up blocks; of a topic's partition, which is the `number`, the records from `first` to
    before `last`; or of a spooled file, from its row `number` on, the tuples with the arrival
    numbers `first` to before `last`.
    """

    source: str
    path: str | None = None
    number: int = 0
    first: int = 0
    last: int = 0
    is_of_topic: bool = False
    schema: str | None = None
    """The Avro schema of its records, where only the checkpoint has it."""
    checksum: int | None = None
    """The checksum of a spooled file; None for other pieces."""
    copy_of: str | None = None
    """The file that users know, where the checkpoint's copy of it is read."""
    weight: int = 0
    """The bytes of text that it holds, about."""
    latest: int | None = None
    """The last event time that its tuples may have, microseconds; None for any."""

    @classmethod
    def of(cls, packet: Packet) -> Slice:
        """The slice in a packet."""
        return cls(**json.loads(bytes(packet.payload)))

    def packet(self, pid: int) -> Packet:
        """The slice as a packet for the task that reads it."""
        return Packet(pid, SLICE, json.dumps(vars(self)).encode())

    def split(self, rows: int) -> Iterator[Slice]:
        """A piece of a spooled file as smaller ones, of so many rows at the most."""
        for first in range(self.first, self.last, rows):
            at, last = self.number + first - self.first, min(first + rows, self.last)
            yield replace(self, number=at, first=first, last=last)

    def parts(self, count: int, size: int) -> Iterator[Slice]:
        """A file of so many bytes as pieces of about the same size."""
        ends = [size * number // count for number in range(1, count)]
        for first, last in pairwise((0, *ends, END)):
            yield replace(self, first=first, last=last, weight=self.weight // count)

    @property
    def span(self) -> Span:
        """The part of a file that is read."""
        return Span(self.first, self.last) if self.last else WHOLE

    @property
    def place(self) -> int:
        """Where it stands among the pieces of its source, for rows that are kept in order."""
        return (self.number << _ROW_BITS) | self.first if self.checksum is None else self.first

    @property
    def part(self) -> str | None:
        """The partition of a topic, of which each has its own event time."""
        return str(self.number) if self.path is None and self.is_of_topic else None

    def of_records(self, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        """The arrival numbers of records with the given offsets."""
        return (self.number << _OFFSET_BITS) | offsets

    def arrival(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The arrival numbers of rows at the given places of a file."""
        return (self.number << _ROW_BITS) | places


def shared_out(
    slices: Sequence[Slice], sources: Mapping[str, Source], tasks: int
) -> Sequence[Slice]:
    """The slices of a batch, those in parts that are more than one task should read."""
    whole = sum(piece.weight for piece in slices)
    if tasks < 2 or not whole:
        return slices
    return [part for piece in slices for part in _parts(piece, sources, tasks, whole)]


def _parts(piece: Slice, sources: Mapping[str, Source], tasks: int, whole: int) -> Iterator[Slice]:
    least = _LEAST.get(sources[piece.source].format)
    # Of a file that is copied or packed nobody knows where a part begins.
    if least is None or piece.path is None or piece.copy_of or piece.checksum is not None:
        return iter((piece,))
    count = min(tasks, -(-_FINER * tasks * piece.weight // whole), piece.weight // least)
    if count < 2 or is_packed(piece.path) or not Place.of(piece.path).is_local:
        return iter((piece,))
    return piece.parts(count, piece.weight)
