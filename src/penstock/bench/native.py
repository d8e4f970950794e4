"""The rival on the same Spark: its own stream-stream joins, at either of their state formats."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.bench.measurement import BatchTime, Measurement
from penstock.bench.workload import ALIASES, Workload
from penstock.engine.spark.start import LIGHTEST_LOGS

_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
# Spark's defaults in place of what our sessions set: its joins run in the JVM, and need it whole.
# What saves us time in its logs saves its own joins more: their state is written the same way.
_PLAIN = {
    **LIGHTEST_LOGS,
    "spark.driver.extraJavaOptions": "",
    "spark.shuffle.compress": "true",
    "spark.python.daemon.module": "pyspark.daemon",
}
# The default, and the newest format on the store that it asks for.
STATE_FORMATS: Mapping[str, Mapping[str, str]] = {
    "hdfs-v2": {**_PLAIN, "spark.sql.streaming.join.stateFormatVersion": "2"},
    "rocksdb-v4": {
        **_PLAIN,
        "spark.sql.streaming.join.stateFormatVersion": "4",
        "spark.sql.streaming.stateStore.providerClass": _ROCKSDB,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    },
}


class Durations(TypedDict):
    """How long a batch of Spark's took, in milliseconds."""

    triggerExecution: int


class Written(TypedDict):
    """The rows that a batch of Spark's wrote; -1 if they were not counted."""

    numOutputRows: int


class Kept(TypedDict):
    """The rows in the state of one of Spark's operators."""

    numRowsTotal: int


class Progress(TypedDict):
    """The part of Spark's report of a batch that is read here."""

    numInputRows: int
    durationMs: Durations
    sink: Written
    stateOperators: list[Kept]


def run_native(
    spark: SparkSession, workload: Workload, folder: Path, checkpoint: str
) -> Measurement:
    """Run Spark's own joins over all files, into its no-op sink."""
    return measured_join(native_join(spark, workload, folder), checkpoint)


def measured_join(join: DataFrame, checkpoint: str) -> Measurement:
    """Run a join of Spark's over all there is, into its no-op sink."""
    writer = join.writeStream.format("noop")
    writer = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True)
    started = time.perf_counter()
    query = writer.start()
    query.awaitTermination()
    seconds = time.perf_counter() - started
    return measured(query.recentProgress, seconds)


def native_join(spark: SparkSession, workload: Workload, folder: Path) -> DataFrame:
    """The workload's query over the files in a folder."""
    streams = {a: marked(workload, a, parquet_stream(spark, workload, folder, a)) for a in ALIASES}
    return join_of(workload, streams)


def join_of(workload: Workload, streams: Mapping[str, DataFrame]) -> DataFrame:
    """The workload's query as two stream-stream joins; columns are named as `SELECT *` does.

    Two tuples of a result are at most a window apart, which is what the RANGE windows say. Spark
    refuses a second event-time column on one side of a join, so B's is computed anew after the
    first join: the values are the same, the mark is gone.
    """
    a, b, c = (streams[alias] for alias in ALIASES)
    first, second = (f"{_name(left)} = {_name(right)}" for left, right in workload.equalities)
    near = {pair: _within(workload.window, *pair) for pair in ("AB", "AC", "BC")}
    pairs = a.join(b, F.expr(f"{first} AND {near['AB']}"))
    pairs = pairs.withColumn("B_ts", F.expr("B_ts + INTERVAL 0 SECONDS"))
    return pairs.join(c, F.expr(f"{second} AND {near['AC']} AND {near['BC']}"))


def measured(progress: Sequence[Progress], seconds: float) -> Measurement:
    """The measurement by Spark; its last batch, without input, counts in the whole run only."""
    batches = tuple(
        BatchTime(p["numInputRows"], p["durationMs"]["triggerExecution"] / 1000)
        for p in progress
        if p["numInputRows"]
    )
    return Measurement(
        seconds=seconds,
        tuples=sum(batch.tuples for batch in batches),
        batches=batches,
        results=sum(max(0, p["sink"]["numOutputRows"]) for p in progress),
        state_tuples=max(sum(op["numRowsTotal"] for op in p["stateOperators"]) for p in progress),
    )


def parquet_stream(spark: SparkSession, workload: Workload, folder: Path, alias: str) -> DataFrame:
    """The files of a stream as Spark reads them, one in each batch."""
    reader = spark.readStream.schema(workload.declared).option("maxFilesPerTrigger", 1)
    return reader.parquet(str(folder / alias))


def marked(workload: Workload, alias: str, rows: DataFrame) -> DataFrame:
    """A stream for Spark's own joins: columns named after it, and a watermark."""
    named = rows.selectExpr(*(f"{name} AS {alias}_{name}" for name in workload.columns))
    return named.withWatermark(f"{alias}_ts", "0 seconds")


def _name(column: str) -> str:
    return column.replace(".", "_")


def _within(seconds: int, left: str, right: str) -> str:
    span = f"INTERVAL {seconds} SECONDS"
    return f"{left}_ts BETWEEN {right}_ts - {span} AND {right}_ts + {span}"
