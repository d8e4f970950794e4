"""Penstock in the contest: planned from a sample of the files, run on Spark."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pyspark.sql import SparkSession

from penstock.api import ContinuousQuery
from penstock.bench.nexmark.data import READERS, Events
from penstock.bench.nexmark.query import NexmarkQuery
from penstock.bench.nexmark.rival import Data, Ended, Finish, Task, each_run
from penstock.bench.nexmark.rows import compared, our_rows
from penstock.bench.ours import measured
from penstock.bench.workload import quoted
from penstock.continuous_script import ContinuousScript
from penstock.cql import parse_script
from penstock.engine.sinks.sink import Sink, noop, parquet
from penstock.engine.spark.connect.client import ConnectRun
from penstock.engine.spark.handle import SparkRun
from penstock.optimize.options import PlanOptions
from penstock.query.made.nexmark import STREAMS, StreamKind
from penstock.query.script import Member
from penstock.sampling.analyze import analyze
from penstock.stats.calibration import calibrated
from penstock.stats.derived import Expected, with_derived
from penstock.stats.guess import complete
from penstock.stats.known import Known
from penstock.stats.statistics import Statistics

FileFormat = Literal["parquet", "csv"]


def run_ours(form: FileFormat, task: Task, spark: SparkSession, scratch: str) -> list[Ended]:
    """Run all queries over files of a format."""

    def run(query: NexmarkQuery) -> Finish:
        return _run(form, query, task, spark, f"{scratch}/{query.name}")

    return list(each_run(task.queries, run))


def script(form: FileFormat, query: NexmarkQuery, data: Data) -> str:
    """The query over files, as many of each stream to a batch as are read side by side."""
    declared = [_stream(form, kind, data.events, data.folder) for kind in query.streams]
    return "\n".join([*declared, query.cql])


def _stream(form: FileFormat, kind: StreamKind, events: Events, folder: Path) -> str:
    known = STREAMS[kind]
    columns = ", ".join(f"{field.name} {field.type}" for field in known.fields)
    return (
        f"CREATE STREAM {kind} ({columns}) WITH (format = '{form}', timestamp = 'dateTime', "
        f"path = {quoted(folder / form / kind)}, rate = {events.rate * known.share:g}, "
        f"max_files = {READERS});"
    )


def _run(
    form: FileFormat, query: NexmarkQuery, task: Task, spark: SparkSession, place: str
) -> Finish:
    _started(form, query, task.little, spark, parquet(f"{place}/rows"), f"{place}/little")
    rows = compared(query, our_rows(query, f"{place}/rows"), task.little.events.last_block_ms)
    run, began, ended = _started(form, query, task.whole, spark, noop(), f"{place}/whole")
    found = measured(run, ended - began)
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


def _started(
    form: FileFormat,
    query: NexmarkQuery,
    data: Data,
    spark: SparkSession,
    sink: Sink,
    checkpoint: str,
) -> tuple[SparkRun | ConnectRun, float, float]:
    """A run over all there is, and when it began and ended. Sampling and planning come before."""
    asked = planned(script(form, query, data))
    began = time.time()
    run = asked.start(spark, sink=sink, checkpoint=checkpoint, available_now=True, drain=True)
    run.await_termination()
    return run, began, time.time()


def planned(text: str) -> ContinuousQuery | ContinuousScript:
    """The queries of a script with their plans, by samples of the files."""
    asked, options = parse_script(text), PlanOptions()
    if len(asked.members) == 1:
        single = ContinuousQuery(asked.members[0].query, _known(asked.members[0], {}), options)
        assert single.decision is not None
        return single
    several = ContinuousScript(asked, _known, options)
    assert several.decisions
    return several


def _known(member: Member, expected: Mapping[str, Expected]) -> Known:
    """What samples tell of a query; of results that it reads, what they are expected to be."""
    query = member.query
    sampled = Statistics(query) if member.reads else analyze(query)
    return complete(query, with_derived(sampled, expected), calibrated("spark"))
