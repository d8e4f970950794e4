"""The ways in which the tuples of a workload reach the same join."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.api import sql
from penstock.bench.measurement import Measurement
from penstock.bench.native import join_of, marked, measured_join, parquet_stream
from penstock.bench.ours import measured
from penstock.bench.workload import ALIASES, Workload
from penstock.engine.sinks.sink import noop

Route = Literal["files", "files_dataframe", "kafka", "kafka_dataframe", "spark_native_kafka"]
ROUTES: Mapping[Route, str] = {
    "files": "files, direct",
    "files_dataframe": "files, by DataFrames",
    "kafka": "Kafka, direct",
    "kafka_dataframe": "Kafka, by DataFrames",
    "spark_native_kafka": "Kafka, Spark's own joins",
}


@dataclass(frozen=True)
class Course:
    """A route, and what it needs: the files of a workload, or the brokers that have its topics."""

    route: Route
    workload: Workload
    folder: Path
    servers: str = ""
    topics: str = ""
    """What the names of its topics begin with."""


def run_course(course: Course, spark: SparkSession, scratch: str) -> Measurement:
    """Run the join over all tuples, into a no-op sink."""
    checkpoint = f"{scratch}/checkpoint"
    if course.route == "spark_native_kafka":
        topics = {alias: _topic(spark, course, alias) for alias in ALIASES}
        streams = {a: marked(course.workload, a, topic) for a, topic in topics.items()}
        return measured_join(join_of(course.workload, streams), checkpoint)
    query = sql(script(course), streams=_frames(spark, course))
    started = time.perf_counter()
    run = query.start(spark, sink=noop(), checkpoint=checkpoint, available_now=True)
    run.await_termination()
    return measured(run, time.perf_counter() - started)


def script(course: Course) -> str:
    """The query of a course; all of them ask the same."""
    workload = course.workload
    if course.route == "files":
        return workload.cql(course.folder)
    declared = {
        "kafka": "({columns}) WITH (format = 'kafka', servers = '{servers}', topic = '{topic}', "
        "max_rows = {rows}, timestamp = 'ts')"
    }.get(course.route, "WITH (format = 'dataframe', timestamp = 'ts')")
    streams = [
        f"CREATE STREAM {alias} "
        + declared.format(
            columns=workload.declared,
            servers=course.servers,
            topic=f"{course.topics}{alias}",
            rows=workload.tuples_per_file,
        )
        for alias in ALIASES
    ]
    return ";\n".join([*streams, workload.select])


def _frames(spark: SparkSession, course: Course) -> dict[str, DataFrame] | None:
    match course.route:
        case "files_dataframe":
            return {a: parquet_stream(spark, course.workload, course.folder, a) for a in ALIASES}
        case "kafka_dataframe":
            return {alias: _topic(spark, course, alias) for alias in ALIASES}
    return None


def _topic(spark: SparkSession, course: Course, alias: str) -> DataFrame:
    """The tuples of a topic, by Spark's own connector."""
    reader = spark.readStream.format("kafka").option("subscribe", f"{course.topics}{alias}")
    reader = reader.option("kafka.bootstrap.servers", course.servers)
    reader = reader.option("startingOffsets", "earliest")
    reader = reader.option("maxOffsetsPerTrigger", course.workload.tuples_per_file)
    value = F.from_json(F.col("value").cast("string"), course.workload.declared).alias("v")
    return reader.load().select(value).select("v.*")
