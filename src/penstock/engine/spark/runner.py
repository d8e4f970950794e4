"""Batches on Spark: every stage is a move to its partitions and a function over Arrow batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from penstock.engine.measures.task_time import Work
from penstock.engine.run.job import Runner, Staged, run_here
from penstock.engine.spark.ticker import deal
from penstock.engine.wire.facts import Fact
from penstock.engine.wire.packet_files import PacketFiles
from penstock.engine.wire.packets import SPARK_SCHEMA, Packet, from_batches, to_batches
from penstock.engine.wire.settled import settle
from penstock.engine.wire.tags import SLICE
from penstock.engine.wire.task_errors import errors_as_facts


def on_spark(ticks: DataFrame, packets: Sequence[Packet], tasks: int) -> Runner:
    """A runner that takes a batch through its stages in one Spark job, and small ones after it.

    `ticks` has one for each of `tasks` tasks, which share the packets among them. A small job is
    none of Spark's.
    """

    def run(job: Staged) -> list[Fact]:
        is_reading = any(packet.tag == SLICE for packet in (*packets, *job.brought))
        if job.is_small or (job.is_idle and not is_reading):
            return run_here(job, packets)
        packet_files = job.packet_files
        dealt = deal((*packets, *job.brought), tasks)
        frame = _apply(ticks, lambda p: job.pack(dealt(p)), packet_files)
        for stage in job.stages:
            if not stage.is_small:
                moved = frame.repartitionById(stage.tasks, F.col("pid") % stage.tasks)
                frame = _apply(moved, stage.work, packet_files)
        try:
            made = from_batches(frame.toArrow().to_batches())
            if packet_files is not None:
                made = packet_files.fetch(made)
            for stage in job.stages:
                if stage.is_small:
                    made = iter(stage.run(made))
            return job.facts(made)
        finally:
            if packet_files is not None:
                packet_files.clear()

    return run


def _apply(frame: DataFrame, work: Work, packet_files: PacketFiles | None) -> DataFrame:
    """A frame of packets with work done on each task's."""

    def over(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settle()
        arrived = from_batches(batches)
        if packet_files is None:
            yield from to_batches(work(arrived))
        else:
            yield from to_batches(
                errors_as_facts(packet_files.leave(work(packet_files.fetch(arrived))))
            )

    return frame.mapInArrow(over, SPARK_SCHEMA)
