"""Runs over DataFrames: those of a case's files, and processes that die while they read some."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.query import Query, Source
from support.engines.crashes import Crash, arm

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

JOIN = """
CREATE STREAM a WITH (format = 'dataframe', timestamp = 'ts');
CREATE STREAM b WITH (format = 'dataframe', timestamp = 'ts');
SELECT a.x AS ax, b.x AS bx FROM a [RANGE 20 SECONDS], b [RANGE 20 SECONDS] WHERE a.k = b.k;
"""
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
# Partitions of a topic are not read in step.
TOPIC_JOIN = JOIN.replace("'ts')", "'ts', lateness = '1 minute')")
SCHEMA = "ts timestamp, k bigint, x bigint"


def as_frames(query: Query) -> Query:
    """The same query with DataFrames in the place of its files."""

    def changed(source: Source) -> Source:
        return replace(source, format="dataframe", path=None, options=())

    inputs = tuple(replace(item, source=changed(item.source)) for item in query.inputs)
    return replace(query, inputs=inputs)


def frames_of_files(spark: SparkSession, query: Query) -> dict[str, DataFrame]:
    """The files of each source as Spark reads them: a file a batch, and tables whole."""
    found = {}
    for name, source in query.sources.items():
        schema = ", ".join(f"{field.name} {field.type}" for field in source.fields)
        if source.is_table:
            found[name] = spark.read.schema(schema).parquet(str(source.path))
        else:
            found[name] = file_frame(spark, str(source.path), schema)
    return found


def file_frame(spark: SparkSession, path: str, schema: str = SCHEMA) -> DataFrame:
    """A stream of parquet files, one in each batch."""
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(path)


def write_pairs(folder: Path) -> None:
    """Six files each of the streams `a` and `b`, in which 300 rows meet their likes."""
    for name in "ab":
        (folder / name).mkdir()
        for number in range(6):
            times = pa.array([number * 1_000_000] * 50, pa.int64()).cast(pa.timestamp("us", "UTC"))
            numbers = range(50 * number, 50 * number + 50)
            columns = {"ts": times, "k": pa.array(numbers), "x": pa.array(numbers)}
            path = folder / name / f"{number}.parquet"
            pq.write_table(pa.table(columns), path)
            # Spark takes files in the order of their times, in milliseconds.
            os.utime(path, (1_000_000_000 + number, 1_000_000_000 + number))


def write_overlapping(folder: Path, files: int = 4, rows: int = 40) -> Counter[tuple[int, int]]:
    """Write the streams a and b, whose times overlap from file to file; what their join makes."""
    random, sent = Random(4), dict[str, list[tuple[int, int, int]]]()
    for name in "ab":
        (folder / name).mkdir(parents=True)
        sent[name] = []
        for number in range(files):
            made = [
                (10 * number + n // 4, random.randrange(12), 1000 * number + n) for n in range(rows)
            ]
            sent[name] += made
            times = [BEGIN + timedelta(seconds=second) for second, _, _ in made]
            columns = {"ts": pa.array(times, pa.timestamp("us", "UTC"))}
            columns |= {
                "k": pa.array([k for _, k, _ in made]),
                "x": pa.array([x for *_, x in made]),
            }
            path = folder / name / f"{number:04}.parquet"
            pq.write_table(pa.table(columns), path)
            os.utime(path, (1_000_000_000 + number, 1_000_000_000 + number))
    found = Counter[tuple[int, int]]()
    for a_second, a_key, a in sent["a"]:
        for b_second, b_key, b in sent["b"]:
            if a_key == b_key and abs(a_second - b_second) <= 20:
                found[a, b] += 1
    return found


def pairs_found(folder: Path) -> Counter[tuple[int, int]]:
    """The results of a join of these streams."""
    lines = (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()
    return Counter((row["ax"], row["bx"]) for row in map(json.loads, lines))


def finish_topics(spark: SparkSession, servers: str, folder: Path) -> None:
    """Run the join of topics over all there is in this process."""
    topics = {name: topic_frame(spark, servers, name) for name in "ab"}
    finish(spark, folder, TOPIC_JOIN, **topics)


def topic_frame(spark: SparkSession, servers: str, topic: str) -> DataFrame:
    """A stream of a topic's values by Spark's own source, some of them in each batch."""
    from pyspark.sql import functions as F  # noqa: N812

    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", servers)
    reader = reader.option("subscribe", topic).option("startingOffsets", "earliest")
    reader = reader.option("maxOffsetsPerTrigger", 40)
    value = F.from_json(F.col("value").cast("string"), SCHEMA).alias("value")
    return reader.load().select(value).select("value.*")


@dataclass(frozen=True)
class FrameRun:
    """A join of the folders `a` and `b`, or of topics of these names where there are `servers`, to
    be run to its end in a process of its own."""

    folder: Path
    crash: Crash | None = None
    servers: str = ""

    def exit_code(self) -> int | None:
        """How the process ends: 0, or minus the signal that killed it."""
        process = multiprocessing.get_context("spawn").Process(target=perform, args=(self,))
        process.start()
        process.join()
        return process.exitcode


def perform(run: FrameRun) -> None:
    """Run over all there is."""
    from penstock.engine.spark.session import make_session
    from support.kafka.real_broker import connector_jars

    settings = {"spark.sql.shuffle.partitions": "2"}
    if run.servers:
        settings["spark.jars"] = connector_jars()
    spark = make_session("local[2]", settings)
    if run.crash is not None:
        arm(run.crash)
    finish_topics(spark, run.servers, run.folder) if run.servers else finish(spark, run.folder)
    spark.stop()


def finish(spark: SparkSession, folder: Path, text: str = JOIN, **more: Any) -> None:
    """Run the join over all there is in this process."""
    import penstock as ps

    files = [name for name in "ab" if name not in more]
    frames = {name: file_frame(spark, str(folder / name)) for name in files}
    query = ps.sql(text, streams=frames | more)
    sink, checkpoint = ps.jsonl(folder / "results.jsonl"), folder / "checkpoint"
    with query.start(spark, sink=sink, checkpoint=checkpoint, available_now=True) as started:
        started.await_termination()
