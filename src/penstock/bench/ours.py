"""Penstock itself in the contest, through its public face."""

from __future__ import annotations

import time
from pathlib import Path

from pyspark.sql import SparkSession

from penstock.api import sql
from penstock.bench.measurement import BatchTime, Measurement
from penstock.bench.workload import Workload
from penstock.engine.sinks.sink import noop
from penstock.engine.spark.connect.client import ConnectRun
from penstock.engine.spark.handle import SparkRun


def run_penstock(
    spark: SparkSession, workload: Workload, folder: Path, checkpoint: str
) -> Measurement:
    """Run Penstock over all files, into its no-op sink."""
    query = sql(workload.cql(folder))
    started = time.perf_counter()
    run = query.start(spark, sink=noop(), checkpoint=checkpoint, available_now=True)
    run.await_termination()
    seconds = time.perf_counter() - started
    return measured(run, seconds)


def measured(run: SparkRun | ConnectRun, seconds: float) -> Measurement:
    """The measurement of a run that has ended, by the reports of its batches."""
    # Spark sees slices, not tuples: those are counted by the engine's own reports. The batch that
    # drains is none of Spark's.
    triggers = {
        p["batchId"]: p["durationMs"]["triggerExecution"] / 1000
        for p in run.streaming.recentProgress
    }
    batches = tuple(
        BatchTime(sum(r.read.values()), triggers.get(r.batch, r.seconds), r.seconds)
        for r in run.reports
    )
    return Measurement(
        seconds=seconds,
        tuples=sum(batch.tuples for batch in batches),
        batches=batches,
        results=run.reports[-1].total_results,
        state_tuples=max(report.state_tuples for report in run.reports),
    )
