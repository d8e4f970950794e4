"""The driver of a siege: queries on one Spark session, until all are drained.

    python tests/support/engines/driver.py FOLDER MASTER [--again]

Prints a line for each batch, and then waits for a line (or for the end of its input) before the
query goes on. With --again a query that fails is started again in this process;
otherwise its error ends the driver.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from threading import Lock
from typing import Any

from penstock.api import sql
from penstock.engine.reports.report import Report
from penstock.engine.sinks.sink import Sink
from penstock.engine.spark.handle import SparkRun
from penstock.engine.spark.session import make_session
from penstock.errors import CheckpointError

TURN = Lock()
"""Queries report from threads of their own; who reads first goes on."""


class Job:
    """One query with its sink and its checkpoint."""

    def __init__(self, spark: Any, folder: Path):
        self._spark = spark
        self._folder = folder
        self.name = folder.name
        self._run: SparkRun | None = None

    def step(self, again: bool) -> bool:
        """Whether the query is still to be waited for."""
        try:
            self._run = self._run or self._start()
            return self._run is not None and not self._run.await_termination(0.2)
        except Exception as error:
            if not again:
                raise
            print(f"{self.name} failed: {type(error).__name__}", flush=True)
            self._run = None
            return True

    def _tell(self, report: Report) -> None:
        print(f"{self.name} batch {report.batch}", flush=True)
        with TURN:
            sys.stdin.readline()

    def _start(self) -> SparkRun | None:
        query = sql((self._folder / "query.cql").read_text())
        try:
            return query.start(
                self._spark,
                sink=Sink.named((self._folder / "sink").read_text()),
                checkpoint=str(self._folder / "checkpoint"),
                available_now=True,
                drain=True,
                report=self._tell,
            )
        except CheckpointError as error:
            if "is closed" not in error.message:
                raise
            return None


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("master")
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    spark = make_session(options.master, {"spark.sql.shuffle.partitions": "2"})
    print("started", flush=True)
    jobs = [Job(spark, path.parent) for path in sorted(options.folder.glob("*/query.cql"))]
    while jobs:
        jobs = [job for job in jobs if job.step(options.again)]
    spark.stop()


if __name__ == "__main__":
    main()
