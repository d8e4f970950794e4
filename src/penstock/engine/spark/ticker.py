"""The ticker: Spark's own micro-batch source, one tick a task, for which tasks get their slices.

What a batch reads is in our feed, by batch number, so Spark needs a source only to count batches:
this one has no files to list and no Python process to start.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from penstock.engine.places.file_names import unique_name
from penstock.engine.places.place import Place
from penstock.engine.state.listing.segments import Segments
from penstock.engine.wire.packets import Packet
from penstock.engine.wire.tags import TICK, Tag

_LIGHT = 1 << 16
"""Bytes of all hands that every task may get."""


def ticks(spark: SparkSession, tasks: int) -> DataFrame:
    """A stream with one packet for each task in every batch, numbered by its partition."""
    reader = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", tasks)
    return _ticks(reader.option("numPartitions", tasks).load(), f"value % {tasks}")


def ticks_now(spark: SparkSession, tasks: int) -> DataFrame:
    """One packet for each task, for a batch whose rows have been read already."""
    return _ticks(spark.range(0, tasks, 1, tasks), "id")


def _ticks(frame: DataFrame, number: str) -> DataFrame:
    tick = f"'{TICK}' as tag", "cast('' as binary) as data"
    return frame.selectExpr(f"cast({number} as int) as pid", *tick)


def deal(packets: Sequence[Packet], tasks: int) -> list[Sequence[Packet]]:
    """A fair share of the packets for each task."""
    return [packets[task::tasks] for task in range(tasks)]


Hands = Sequence[Sequence[Packet]]
"""The packets of each task."""


@dataclass(frozen=True)
class FiledHands:
    """The packets of each task in a file, of which it fetches its own."""

    segments: Segments

    @classmethod
    def write(cls, root: Place, folder: str, hands: Hands) -> FiledHands:
        """Write the packets of all tasks to a new file in a folder."""
        return cls(Segments.write(root, f"{folder}/{unique_name()}", [*map(_as_bytes, hands)]))

    def __getitem__(self, task: int) -> Sequence[Packet]:
        data = self.segments.read(task)
        start = data.index(b"\n") + 1
        packets = []
        for pid, tag, size in json.loads(data[:start]):
            packets.append(Packet(pid, Tag.parse(tag), data[start : start + size]))
            start += size
        return packets


def _as_bytes(hand: Iterable[Packet]) -> bytes:
    """A line that says where each packet goes, what it is and how long, and the bytes of all."""
    held = [(packet, bytes(packet.payload)) for packet in hand]
    head = json.dumps([(packet.pid, str(packet.tag), len(data)) for packet, data in held])
    return b"".join((head.encode(), b"\n", *(data for _, data in held)))


@contextmanager
def filed(root: Place, folder: str, hands: Hands) -> Iterator[Hands | FiledHands]:
    """The packets of tasks, in a file meanwhile if they are too many for every task to get."""
    if sum(packet.size for hand in hands for packet in hand) <= _LIGHT:
        yield hands
        return
    held = FiledHands.write(root, folder, hands)
    try:
        yield held
    finally:
        held.segments.remove()


def in_place_of_ticks(hands: Hands | FiledHands, came: Iterable[Packet]) -> Iterator[Packet]:
    """The hand of a task in the place of its tick."""
    for packet in came:
        if packet.tag == TICK:
            yield from hands[packet.pid]
        else:
            yield packet
