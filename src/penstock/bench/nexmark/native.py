"""Spark's own joins in the contest, over the same parquet files."""

from __future__ import annotations

import statistics
import time

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from penstock.bench import native
from penstock.bench.nexmark.queries import NexmarkQuery
from penstock.bench.nexmark.rival import Data, Finish, Task
from penstock.bench.nexmark.rows import fingerprint, rows_in, told_by
from penstock.query.made.nexmark import STREAMS


def run_spark(task: Task, spark: SparkSession, scratch: str) -> list[Finish]:
    """Run all queries that Spark can express."""
    return [_run(query, task, spark, f"{scratch}/{query.name}") for query in task.queries]


def _run(query: NexmarkQuery, task: Task, spark: SparkSession, place: str) -> Finish:
    little = query_over(spark, query, task.little).writeStream.format("parquet")
    _ended(little.option("path", f"{place}/rows"), f"{place}/little")
    rows = rows_in(f"{place}/rows")
    if query.is_of_blocks:
        rows = told_by(rows, task.little.events.last_block_ms)
    whole = query_over(spark, query, task.whole).writeStream.format("noop")
    began = time.time()
    run = _ended(whole, f"{place}/whole")
    ended = time.time()
    found = native.measured(run.recentProgress, ended - began)
    return Finish(
        query.name,
        began,
        ended,
        ended - began,
        fingerprint(rows),
        found.results,
        found.state_tuples,
        statistics.median(batch.trigger for batch in found.batches),
    )


def query_over(spark: SparkSession, query: NexmarkQuery, data: Data) -> DataFrame:
    """The query over files, a file of each stream to a batch."""
    for kind in query.streams:
        columns = ", ".join(f"{field.name} {field.type}" for field in STREAMS[kind].fields)
        reader = spark.readStream.schema(columns).option("maxFilesPerTrigger", 1)
        rows = reader.parquet(str(data.folder / "parquet" / kind))
        # A join over all that ever came needs no watermark, and has less to do without.
        marked = rows.withWatermark("dateTime", "0 seconds") if query.is_of_blocks else rows
        marked.createOrReplaceTempView(kind)
    return spark.sql(query.spark)


def _ended(writer: DataFrame, checkpoint: str) -> StreamingQuery:
    run = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
    run.awaitTermination()
    return run
