"""Spark's own join under the same load: the streams of the rising load, by the clock."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.bench.contest import apart
from penstock.bench.drift.cases.burst import Seen
from penstock.bench.drift.streams.feeder import Feeder, hide
from penstock.bench.drift.streams.scenario import Scenario
from penstock.bench.native import STATE_FORMATS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def native_seen(scenario: Scenario, trigger: float, most: float) -> list[Seen]:
    """The batches of Spark's own join over the streams, in a process of its own; it is ended `most`
    seconds after they are."""
    work = partial(_play, scenario, trigger, most)
    return apart("Spark's own join", STATE_FORMATS["hdfs-v2"], work)


def _play(
    scenario: Scenario, trigger: float, most: float, spark: SparkSession, scratch: str
) -> list[Seen]:
    with tempfile.TemporaryDirectory(prefix="penstock-lab-", dir=scratch) as folder:
        files = hide(scenario, Path(folder))
        writer = joined(spark, scenario, Path(folder)).writeStream.format("noop")
        writer = writer.option("checkpointLocation", f"{scratch}/checkpoint")
        query = writer.trigger(processingTime=f"{round(1000 * trigger)} milliseconds").start()
        # The first batches find nothing, and start what Spark needs.
        while not query.recentProgress:
            time.sleep(0.1)
        with Feeder(files) as feeder:
            query.awaitTermination(scenario.batches * scenario.step + most)
            started = feeder.started
        query.stop()
        return list(seen_of([dict(each) for each in query.recentProgress], started))


def joined(spark: SparkSession, scenario: Scenario, folder: Path) -> DataFrame:
    """The join of a scenario's two streams, with a watermark on each and bounds on their times."""
    from pyspark.sql import functions as F  # noqa: N812

    (left, first), (right, second) = scenario.windows.items()
    sides = [_stream(spark, scenario, folder, name) for name in (left, right)]
    near = (
        f"{left}_ts >= {right}_ts - INTERVAL {first} SECONDS "
        f"AND {right}_ts >= {left}_ts - INTERVAL {second} SECONDS"
    )
    conditions = [each.replace(".", "_") for each in (*scenario.equalities, *scenario.predicates)]
    return sides[0].join(sides[1], F.expr(" AND ".join([*conditions, near])))


def _stream(spark: SparkSession, scenario: Scenario, folder: Path, name: str) -> DataFrame:
    columns = [*scenario.stretches[0].regime[name].columns, "id"]
    schema = ", ".join(["ts TIMESTAMP", *(f"{column} BIGINT" for column in columns)])
    rows = spark.readStream.schema(schema).parquet(str(folder / name))
    named = rows.selectExpr(*(f"{column} AS {name}_{column}" for column in ("ts", *columns)))
    return named.withWatermark(f"{name}_ts", "0 seconds")


def seen_of(progress: Sequence[dict[str, Any]], started: float) -> Iterator[Seen]:
    """Spark's reports as batches. The oldest data of one came when the one before had begun; before
    the streams there was none."""
    before = started
    for each in progress:
        began = datetime.fromisoformat(each["timestamp"].replace("Z", "+00:00")).timestamp()
        took = each["durationMs"]["triggerExecution"] / 1000
        if each["numInputRows"]:
            delay = began + took - max(before, started)
            results = max(0, each["sink"]["numOutputRows"])
            yield Seen(began + took - started, took, delay, began - started, {}, results)
        before = began
