"""Packets: what travels between the steps of a batch; bytes in three plain columns when it leaves
the process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from penstock.engine.places import disk
from penstock.engine.wire.facts import Fact, decode, encode, is_for_driver, joined
from penstock.engine.wire.tags import META, Tag

SCHEMA = pa.schema([("pid", pa.int32()), ("tag", pa.string()), ("data", pa.binary())])
SPARK_SCHEMA = "pid int, tag string, data binary"

# Arrow's binary columns end at 2 GiB, and a packet is copied a few times on its way.
_BATCH_BYTES = 64 << 20


@dataclass(frozen=True)
class Packet:
    """Bytes or rows for one partition; the tag says what they are.

    Rows stay rows until they leave the process, if they ever do.
    """

    pid: int
    tag: Tag
    data: pa.Buffer | bytes | pa.RecordBatch

    @property
    def size(self) -> int:
        """Bytes that travel, for rows about."""
        return self.data.nbytes if isinstance(self.data, pa.RecordBatch) else len(self.data)

    @property
    def payload(self) -> pa.Buffer | bytes:
        """What travels: rows as an Arrow stream."""
        return as_stream(self.data) if isinstance(self.data, pa.RecordBatch) else self.data

    def batches(self) -> Iterable[pa.RecordBatch]:
        """The rows."""
        data = self.data
        return (data,) if isinstance(data, pa.RecordBatch) else pa.ipc.open_stream(data)

    def write_to(self, path: str) -> None:
        """Write what travels to a file, without making it in memory first."""
        with disk.create(path) as file:
            if isinstance(self.data, pa.RecordBatch):
                write_stream(file, self.data)
            else:
                file.write(self.data)


def pack_rows(pid: int, tag: Tag, rows: pa.RecordBatch) -> Packet:
    """Rows as a packet."""
    return Packet(pid, tag, rows)


def as_stream(rows: pa.RecordBatch) -> pa.Buffer:
    """Rows as the bytes of an Arrow stream."""
    sink = pa.BufferOutputStream()
    write_stream(sink, rows)
    return sink.getvalue()


def write_stream(sink: pa.NativeFile, rows: pa.RecordBatch) -> None:
    """Write rows to an open file as an Arrow stream."""
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_batch(rows)


def unpack_rows(packets: Iterable[Packet]) -> pa.RecordBatch | None:
    """The rows of several packets as one batch, or None if there is not a single row."""
    return _as_one(batch for packet in packets for batch in packet.batches())


def unpacked_in_parts(packets: Iterable[Packet], rows: int) -> Iterator[pa.RecordBatch]:
    """The rows of several packets, in batches that end once they have as many as that."""
    held: list[pa.RecordBatch] = []
    for batch in (batch for packet in packets for batch in packet.batches()):
        held.append(batch)
        if sum(map(len, held)) >= rows:
            yield pa.concat_batches(held)
            held = []
    last = _as_one(held)
    if last is not None:
        yield last


def from_streams(streams: Iterable[pa.Buffer | bytes]) -> pa.RecordBatch | None:
    """The rows of several Arrow streams as one batch, or None if there is not a single row."""
    return _as_one(batch for stream in streams for batch in pa.ipc.open_stream(stream))


def _as_one(batches: Iterable[pa.RecordBatch]) -> pa.RecordBatch | None:
    filled = [batch for batch in batches if len(batch)]
    if not filled:
        return None
    return filled[0] if len(filled) == 1 else pa.concat_batches(filled)


def sort_out(packets: Iterable[Packet]) -> tuple[list[Packet], dict[Tag, list[Packet]]]:
    """Facts, and all other packets by their tag."""
    by_tag: dict[Tag, list[Packet]] = {}
    for packet in packets:
        by_tag.setdefault(packet.tag, []).append(packet)
    return by_tag.pop(META, []), by_tag


def pack_fact(pid: int, *facts: Fact) -> Packet:
    """Facts for the driver, or for the next step at the same partition; not both in one."""
    return Packet(pid, META, encode(*facts))


def unpack_facts(packets: Iterable[Packet]) -> list[Fact]:
    """The facts in packets, of which there may be thousands: they are read as one."""
    return decode(joined(bytes(packet.payload) for packet in packets))


def unpack_facts_for_steps(packets: Iterable[Packet]) -> list[Fact]:
    """The facts in packets but those that only the driver reads."""
    return unpack_facts(packet for packet in packets if not is_for_driver(packet.payload))


def to_batches(packets: Iterable[Packet]) -> Iterator[pa.RecordBatch]:
    """Packets as Arrow batches of bounded size."""
    held: list[Packet] = []
    size = 0
    for packet in packets:
        held.append(packet)
        size += packet.size
        if size >= _BATCH_BYTES:
            yield _as_batch(held)
            held, size = [], 0
    if held:
        yield _as_batch(held)


def from_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[Packet]:
    """The packets in Arrow batches, without copying their bytes."""
    for batch in batches:
        pids, tags = batch.column(0).to_pylist(), batch.column(1).to_pylist()
        for pid, tag, data in zip(pids, tags, batch.column(2), strict=True):
            yield Packet(pid, Tag.parse(tag), data.as_buffer())


def from_table(table: pa.Table) -> Iterator[Packet]:
    """The packets in a table of which thousands of tasks have left a small piece each."""
    columns = (column.to_pylist() for column in table.combine_chunks().columns)
    for pid, tag, data in zip(*columns, strict=True):
        yield Packet(pid, Tag.parse(tag), data)


def _as_batch(packets: list[Packet]) -> pa.RecordBatch:
    columns = [
        pa.array([p.pid for p in packets], pa.int32()),
        pa.array([str(p.tag) for p in packets], pa.string()),
        pa.array([memoryview(p.payload) for p in packets], pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
