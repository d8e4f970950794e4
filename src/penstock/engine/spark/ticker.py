"""The ticker: Spark's own micro-batch source, one tick a task, for which tasks get their slices.

What a batch reads is in our feed, by batch number, so Spark needs a source only to count batches:
this one has no files to list and no Python process to start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from penstock.engine.sources.slices import Slice
from penstock.engine.wire.packets import SPARK_SCHEMA, Packet, pack_rows, to_batches
from penstock.engine.wire.tags import TICK, Tag


def ticks(spark: SparkSession, tasks: int) -> DataFrame:
    """A stream with one packet for each task in every batch, numbered by its partition."""
    reader = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", tasks)
    frame = reader.option("numPartitions", tasks).load()
    return frame.selectExpr(
        f"cast(value % {tasks} as int) as pid", f"'{TICK}' as tag", "cast('' as binary) as data"
    )


def deal(slices: Sequence[Slice], tasks: int) -> Callable[[Iterable[Packet]], Iterator[Packet]]:
    """A function that puts slices in the place of ticks, a fair share for each."""
    packets = [piece.packet(0) for piece in slices]
    hands = [packets[task::tasks] for task in range(tasks)]

    def dealt(ticks: Iterable[Packet]) -> Iterator[Packet]:
        for packet in ticks:
            if packet.tag == TICK:
                yield from hands[packet.pid]
            else:
                yield packet

    return dealt


def rows_of_rate(spark: SparkSession, name: str, rate: float) -> DataFrame:
    """A stream of packets with the rows of Spark's own rate source."""
    tag = Tag("rows", name)
    reader = spark.readStream.format("rate").option("rowsPerSecond", max(1, round(rate)))

    def wrap(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        packets = (pack_rows(0, tag, batch) for batch in batches if len(batch))
        yield from to_batches(packets)

    return reader.load().mapInArrow(wrap, SPARK_SCHEMA)
