"""Batches on Spark: every stage is a move to its partitions and a function over Arrow batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from penstock.engine.job import Job, Runner, Work
from penstock.engine.packets import SPARK_SCHEMA, from_batches, to_batches, unpack_meta


def on_spark(slices: DataFrame) -> Runner:
    """A runner that takes a frame of slices through all stages in one Spark job."""

    def run(job: Job) -> list[dict[str, Any]]:
        frame = slices.mapInArrow(_over_batches(job.pack), SPARK_SCHEMA)
        for stage in job.stages:
            moved = frame.repartitionById(stage.pids, F.col("pid"))
            frame = moved.mapInArrow(_over_batches(stage.work), SPARK_SCHEMA)
        packets = from_batches(frame.toArrow().to_batches())
        return [unpack_meta(packet) for packet in packets if packet.tag == "meta"]

    return run


def _over_batches(work: Work) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def over(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from to_batches(work(from_batches(batches)))

    return over
