"""Batches on Spark: every stage is a move to its partitions and a function over Arrow batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from penstock.engine.job import Job, Runner, Work
from penstock.engine.packets import SPARK_SCHEMA, from_batches, to_batches, unpack_meta
from penstock.engine.slices import Slice
from penstock.engine.spark.ticker import deal


def on_spark(packets: DataFrame, slices: Sequence[Slice], tasks: int) -> Runner:
    """A runner that takes a batch through all stages in one Spark job.

    `packets` has a tick for each of `tasks` tasks, which read the slices; others pass as they are.
    """

    def run(job: Job) -> list[dict[str, Any]]:
        dealt = deal(slices, tasks)
        frame = packets.mapInArrow(_over_batches(lambda p: job.pack(dealt(p))), SPARK_SCHEMA)
        for stage in job.stages:
            moved = frame.repartitionById(stage.tasks, F.col("pid") % stage.tasks)
            frame = moved.mapInArrow(_over_batches(stage.work), SPARK_SCHEMA)
        facts = from_batches(frame.toArrow().to_batches())
        return [unpack_meta(fact) for fact in facts if fact.tag == "meta"]

    return run


def _over_batches(work: Work) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def over(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from to_batches(work(from_batches(batches)))

    return over
