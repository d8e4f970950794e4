"""The ticker: Spark's own micro-batch source, one tick a task, for which tasks get their slices.

What a batch reads is in our feed, by batch number, so Spark needs a source only to count batches:
this one has no files to list and no Python process to start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pyspark.sql import DataFrame, SparkSession

from penstock.engine.wire.packets import Packet
from penstock.engine.wire.tags import TICK


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


def in_place_of_ticks(
    hands: Sequence[Sequence[Packet]], came: Iterable[Packet]
) -> Iterator[Packet]:
    """The hand of a task in the place of its tick."""
    for packet in came:
        if packet.tag == TICK:
            yield from hands[packet.pid]
        else:
            yield packet
