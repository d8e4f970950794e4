"""Warm up a session: the first Python function takes seconds, whatever it does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

_MARK = "spark.penstock.isWarm"


def warm_up(spark: SparkSession) -> None:
    """Have Spark start its Python workers and move something from one to another."""
    cores = spark.sparkContext.defaultParallelism
    frame = spark.range(0, cores, 1, cores).mapInArrow(_unchanged, "id long")
    moved = frame.repartitionById(cores, F.col("id").cast("int"))
    moved.mapInArrow(_unchanged, "id long").toArrow()
    spark.conf.set(_MARK, "true")


def is_warm(spark: SparkSession) -> bool:
    """Whether a session has been warmed up."""
    return bool(spark.conf.get(_MARK, "false") == "true")


def _unchanged(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches
