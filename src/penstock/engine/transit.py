"""Transit: large packets travel as files, and Spark's shuffle moves only their names.

On the way through the JVM a packet is copied half a dozen times; a file that lives for a second is
written once to the page cache and mapped. All tasks reach the checkpoint's folder anyway.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from penstock.engine.packets import Packet
from penstock.engine.store import storage_errors

# Below this a file costs more than the copies.
_LARGE = 1 << 15
_MARK = "@"


@dataclass(frozen=True)
class Transit:
    """A local folder for the packets of one batch."""

    folder: str

    def leave(self, packets: Iterable[Packet]) -> Iterator[Packet]:
        """The packets, with a name in place of each large one."""
        for packet in packets:
            yield packet if len(packet.data) < _LARGE else self._left(packet)

    def fetch(self, packets: Iterable[Packet]) -> Iterator[Packet]:
        """The packets as they were left."""
        for packet in packets:
            yield self._fetched(packet) if packet.tag.startswith(_MARK) else packet

    def clear(self) -> None:
        """Remove all of them."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _left(self, packet: Packet) -> Packet:
        name = uuid.uuid4().hex
        with storage_errors("write", self.folder):
            try:
                self._write(name, packet)
            except FileNotFoundError:
                Path(self.folder).mkdir(parents=True, exist_ok=True)
                self._write(name, packet)
        return Packet(packet.pid, _MARK + packet.tag, name.encode())

    def _write(self, name: str, packet: Packet) -> None:
        with open(f"{self.folder}/{name}", "wb") as file:
            file.write(packet.data)

    def _fetched(self, packet: Packet) -> Packet:
        path = f"{self.folder}/{bytes(packet.data).decode()}"
        with storage_errors("read", path), pa.memory_map(path) as file:
            return Packet(packet.pid, packet.tag.removeprefix(_MARK), file.read_buffer())
