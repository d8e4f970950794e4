"""Penstock in the contest: planned from a sample of the files, run on Spark."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Literal

from pyspark.sql import SparkSession

from penstock.api import ContinuousQuery
from penstock.bench.nexmark.data import Events
from penstock.bench.nexmark.queries import NexmarkQuery
from penstock.bench.nexmark.rival import Data, Finish, Task
from penstock.bench.nexmark.rows import fingerprint, rows_in, told_by
from penstock.bench.ours import measured
from penstock.bench.workload import quoted
from penstock.cql import parse
from penstock.engine.sinks.sink import Sink, noop, parquet
from penstock.engine.spark.connect.client import ConnectRun
from penstock.engine.spark.handle import SparkRun
from penstock.query.made.nexmark import STREAMS, StreamKind
from penstock.sampling.analyze import analyze
from penstock.stats.calibration import calibrated
from penstock.stats.guess import complete

FileFormat = Literal["parquet", "csv"]


def run_ours(form: FileFormat, task: Task, spark: SparkSession, scratch: str) -> list[Finish]:
    """Run all queries over files of a format."""
    return [_run(form, query, task, spark, f"{scratch}/{query.name}") for query in task.queries]


def script(form: FileFormat, query: NexmarkQuery, data: Data) -> str:
    """The query over files, a file of each stream to a batch."""
    declared = [_stream(form, kind, data.events, data.folder) for kind in query.streams]
    return "\n".join([*declared, query.cql])


def _stream(form: FileFormat, kind: StreamKind, events: Events, folder: Path) -> str:
    known = STREAMS[kind]
    columns = ", ".join(f"{field.name} {field.type}" for field in known.fields)
    return (
        f"CREATE STREAM {kind} ({columns}) WITH (format = '{form}', timestamp = 'dateTime', "
        f"path = {quoted(folder / form / kind)}, rate = {events.rate * known.share:g}, "
        "max_files = 1);"
    )


def _run(
    form: FileFormat, query: NexmarkQuery, task: Task, spark: SparkSession, place: str
) -> Finish:
    _started(form, query, task.little, spark, parquet(f"{place}/rows"), f"{place}/little")
    rows = rows_in(f"{place}/rows")
    if query.is_of_blocks:
        rows = told_by(rows, task.little.events.last_block_ms)
    run, began, ended = _started(form, query, task.whole, spark, noop(), f"{place}/whole")
    found = measured(run, ended - began)
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


def _started(
    form: FileFormat,
    query: NexmarkQuery,
    data: Data,
    spark: SparkSession,
    sink: Sink,
    checkpoint: str,
) -> tuple[SparkRun | ConnectRun, float, float]:
    """A run over all there is, and when it began and ended. Sampling and planning come before."""
    asked = parse(script(form, query, data))
    known = complete(asked, analyze(asked), calibrated("spark"))
    planned = ContinuousQuery(asked, known)
    assert planned.decision is not None
    began = time.time()
    run = planned.start(spark, sink=sink, checkpoint=checkpoint, available_now=True)
    run.await_termination()
    return run, began, time.time()
