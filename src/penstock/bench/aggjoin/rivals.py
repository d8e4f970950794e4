"""The rivals of aggjoin: the chosen plan, our own late plan, and Spark's own join and groups."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Literal

import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.bench import native, ours
from penstock.bench.aggjoin.data import Answer
from penstock.bench.aggjoin.workload import NUMBERS, WINDOW, AggJoin, Kind
from penstock.bench.measurement import Measurement
from penstock.cql import parse
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import parquet
from penstock.engine.spark.start import start
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.query.view import CHANGE
from penstock.stats.calibration import calibrated
from penstock.stats.guess import complete

Rival = Literal["penstock", "late", "spark_native"]


@dataclass(frozen=True)
class Entry:
    """A task for a rival: a workload, the kind of its windows, and the folder of its files."""

    rival: Rival
    workload: AggJoin
    kind: Kind
    folder: Path


@dataclass(frozen=True)
class Finish:
    """The measurement of a run, and the answer that it gave."""

    measurement: Measurement
    answer: Answer


def run_entries(entries: Sequence[Entry], spark: SparkSession, scratch: str) -> list[Finish]:
    """Run them one after another in one session."""
    return [_run(entry, spark, f"{scratch}/{n}") for n, entry in enumerate(entries)]


def _run(entry: Entry, spark: SparkSession, place: str) -> Finish:
    run = _run_native if entry.rival == "spark_native" else _run_penstock
    results = f"{place}/results"
    measurement = run(entry, spark, results, f"{place}/checkpoint")
    return Finish(measurement, answer_in(results))


def _run_penstock(entry: Entry, spark: SparkSession, results: str, checkpoint: str) -> Measurement:
    """The plan that is chosen by what is true of the streams, or the best one that is late."""
    query = parse(entry.workload.cql(entry.folder, entry.kind))
    known = complete(query, entry.workload.statistics(query), calibrated("spark"))
    off = frozenset({"early-aggregation"} if entry.rival == "late" else ())
    started = time.perf_counter()
    plan = decide(known, PlanOptions(off=off)).plan
    run = start(
        plan, spark, RunOptions(sink=parquet(results), checkpoint=checkpoint, available_now=True)
    )
    run.await_termination()
    return ours.measured(run, time.perf_counter() - started)


def _run_native(entry: Entry, spark: SparkSession, results: str, checkpoint: str) -> Measurement:
    frame = native_view(spark, entry.workload, entry.folder)
    writer = frame.writeStream.format("parquet").option("path", results)
    writer = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True)
    started = time.perf_counter()
    query = writer.start()
    query.awaitTermination()
    return native.measured(query.recentProgress, time.perf_counter() - started)


def native_view(spark: SparkSession, workload: AggJoin, folder: Path) -> DataFrame:
    """The query over tumbling windows: joined on key and window, then grouped."""
    first, second, *_ = workload.streams
    streams = [_blocks(spark, workload, folder, alias) for alias in workload.streams]
    joined = reduce(lambda left, right: left.join(right, ["k", "block"]), streams)
    groups = joined.groupBy("block", F.col(f"{first}_g").alias("g"))
    return groups.agg(F.count("*").alias("n"), F.sum(f"{second}_x").alias("total"))


def _blocks(spark: SparkSession, workload: AggJoin, folder: Path, alias: str) -> DataFrame:
    """A stream with the columns that the query needs of it, and the block of each tuple."""
    schema = ", ".join(["ts TIMESTAMP", *(f"{name} BIGINT" for name in NUMBERS)])
    reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", workload.batch)
    rows = reader.parquet(str(folder / alias)).withWatermark("ts", "0 seconds")
    needed = {0: ["g"], 1: ["x"]}.get(workload.streams.index(alias), [])
    own = [F.col(name).alias(f"{alias}_{name}") for name in needed]
    return rows.select("k", F.window("ts", f"{WINDOW} seconds").alias("block"), *own)


def answer_in(results: str) -> Answer:
    """The answer that the rows in a folder of parquet files come to."""
    rows = ds.dataset(results, format="parquet").to_table()
    if CHANGE in rows.column_names:
        rows = rows.filter(pc.equal(rows[CHANGE], "upsert"))
    return Answer(*(pc.sum(rows[name], min_count=0).as_py() for name in ("n", "total")))
