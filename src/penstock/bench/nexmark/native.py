"""Spark's own joins and windows in the contest, over the same parquet files."""

from __future__ import annotations

import statistics
import time

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import DataStreamWriter, StreamingQuery

from penstock.bench import native
from penstock.bench.nexmark.data import READERS
from penstock.bench.nexmark.query import NexmarkQuery
from penstock.bench.nexmark.rival import Data, Ended, Finish, Task, each_run
from penstock.bench.nexmark.rows import compared, rows_in
from penstock.query.made.nexmark import STREAMS


def run_spark(task: Task, spark: SparkSession, scratch: str) -> list[Ended]:
    """Run all queries that Spark can express."""
    asked = tuple(query for query in task.queries if query.spark is not None)
    return list(each_run(asked, lambda each: _run(each, task, spark, f"{scratch}/{each.name}")))


def _run(query: NexmarkQuery, task: Task, spark: SparkSession, place: str) -> Finish:
    little = query_over(spark, query, task.little).writeStream.format("parquet")
    _ended(little.option("path", f"{place}/rows"), f"{place}/little")
    rows = compared(query, rows_in(f"{place}/rows"), task.little.events.last_block_ms)
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
        rows,
        found.results,
        found.state_tuples,
        statistics.median(batch.trigger for batch in found.batches),
    )


def query_over(spark: SparkSession, query: NexmarkQuery, data: Data) -> DataFrame:
    """The query over files, as many of each stream to a batch as are read side by side."""
    assert query.spark is not None
    for kind in query.streams:
        columns = ", ".join(f"{field.name} {field.type}" for field in STREAMS[kind].fields)
        reader = spark.readStream.schema(columns).option("maxFilesPerTrigger", READERS)
        rows = reader.parquet(str(data.folder / "parquet" / kind))
        marked = rows.withWatermark("dateTime", "0 seconds") if "spark" in query.marked else rows
        marked.createOrReplaceTempView(kind)
    return spark.sql(query.spark)


def _ended(writer: DataStreamWriter, checkpoint: str) -> StreamingQuery:
    run = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
    run.awaitTermination()
    return run
