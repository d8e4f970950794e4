"""Warm up a session: the first Python function takes seconds, whatever it does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from threading import Thread

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.kernels.warm_up import warm_up as load_kernels

_MARK = "spark.penstock.isWarm"


def warm_up(spark: SparkSession) -> None:
    """Have Spark start its Python workers and move something from one to another.

    The driver loads the kernels too, for the stages that it runs itself.
    """
    kernels = Thread(target=load_kernels)
    kernels.start()
    cores = spark.sparkContext.defaultParallelism
    frame = spark.range(0, cores, 1, cores).mapInArrow(_unchanged, "id long")
    moved = frame.repartitionById(cores, F.col("id").cast("int"))
    moved.mapInArrow(_unchanged, "id long").toArrow()
    kernels.join()
    spark.conf.set(_MARK, "true")


def is_warm(spark: SparkSession) -> bool:
    """Whether a session has been warmed up."""
    return bool(spark.conf.get(_MARK, "false") == "true")


def _unchanged(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches
