"""Spilling: packets that wait for the next stage, in files once there are too many for the memory.

One hot key turns thousands of tuples into millions of partial results, and all of those that need
another key wait until everybody is done with this one.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator

from penstock.engine.places.place import Place
from penstock.engine.wire.packet_files import PacketFiles
from penstock.engine.wire.packets import Packet

HELD = 64 << 20
"""Bytes of packets that wait in memory."""


class Spill:
    """Holds packets, in a folder of its own what is beyond the bound; leaving it deletes that."""

    def __init__(self, files: PacketFiles | None = None):
        """Files in a folder that is there for it, or in a temporary one if none is."""
        self._files = files
        self._own: str | None = None
        self._has_left = False

    def __enter__(self) -> Spill:
        return self

    def __exit__(self, *_: object) -> None:
        if self._own is not None:
            shutil.rmtree(self._own, ignore_errors=True)
        elif self._files is not None and self._has_left:
            self._files.clear()

    def held(self, packets: Iterable[Packet]) -> list[Packet]:
        """All packets; large ones are names of files once there is too much of them."""
        waiting: list[Packet] = []
        size = 0
        for packet in packets:
            if size > HELD:
                waiting += self._folder.leave([packet])
            else:
                size += packet.size
                waiting.append(packet)
        return waiting

    def fetched(self, packets: Iterable[Packet]) -> Iterator[Packet]:
        """The packets as they were; what is in files is mapped."""
        return iter(packets) if self._files is None else self._files.fetch(packets)

    @property
    def _folder(self) -> PacketFiles:
        self._has_left = True
        if self._files is None:
            self._own = tempfile.mkdtemp(prefix="penstock-packets-")
            self._files = PacketFiles(Place.of(self._own))
        return self._files
