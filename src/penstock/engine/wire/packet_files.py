"""Packet files: large packets travel as files, and Spark's shuffle moves only their names.

On the way through the JVM a packet is copied half a dozen times; a file that lives for a second is
written once to the page cache and mapped. All tasks reach the checkpoint's folder anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from penstock.engine.places import disk
from penstock.engine.places.file_names import is_unique_name, unique_name
from penstock.engine.places.place import Place
from penstock.engine.state.store import storage_errors
from penstock.engine.wire.packets import Packet

# Below this a file costs more than the copies.
_LARGE = 1 << 15


@dataclass(frozen=True)
class PacketFiles:
    """A local folder for the packets of one batch."""

    folder: Place

    def leave(self, packets: Iterable[Packet]) -> Iterator[Packet]:
        """The packets, with a name in place of each large one."""
        for packet in packets:
            yield packet if packet.size < _LARGE else self._left(packet)

    def fetch(self, packets: Iterable[Packet]) -> Iterator[Packet]:
        """The packets as they were left."""
        for packet in packets:
            yield self._fetched(packet) if packet.tag.is_filed else packet

    def sizes(self, packets: Iterable[Packet]) -> Iterator[int]:
        """The bytes of packets, also of those that were left."""
        for packet in packets:
            yield self._fetched(packet).size if packet.tag.is_filed else packet.size

    def clear(self) -> None:
        """Remove all of them."""
        with suppress(OSError):
            left = [name for name, _ in self.folder.files() if is_unique_name(name)]
            self.folder.delete(left)
            self.folder.delete_if_empty()

    def _left(self, packet: Packet) -> Packet:
        name = unique_name()
        with storage_errors("write", self.folder.path):
            try:
                packet.write_to((self.folder / name).path)
            except FileNotFoundError:
                disk.make_folders(self.folder)
                packet.write_to((self.folder / name).path)
        return Packet(packet.pid, packet.tag.filed(), name.encode())

    def _fetched(self, packet: Packet) -> Packet:
        path = (self.folder / bytes(packet.payload).decode()).path
        with storage_errors("read", path):
            return Packet(packet.pid, packet.tag.filed(False), disk.mapped(path))
