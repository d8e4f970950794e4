"""Slices: the pieces of sources that tasks read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.engine.wire.packets import Packet
from penstock.engine.wire.tags import SLICE

# A file's number in its source and a row's place in the file make up the arrival number.
_ROW_BITS = 36


@dataclass(frozen=True)
class Slice:
    """A piece of a source that one task reads: a file, or a run of synthetic blocks."""

    source: str
    path: str | None = None
    number: int = 0
    first: int = 0
    last: int = 0

    @classmethod
    def of(cls, packet: Packet) -> Slice:
        """The slice in a packet."""
        return cls(**json.loads(bytes(packet.data)))

    def packet(self, pid: int) -> Packet:
        """The slice as a packet for the task that reads it."""
        return Packet(pid, SLICE, json.dumps(asdict(self)).encode())

    def arrival(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The arrival numbers of rows at the given places of a file."""
        return (self.number << _ROW_BITS) | places
