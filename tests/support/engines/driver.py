"""The driver of a siege: queries on one Spark session, until all are drained.

    python tests/support/engines/driver.py FOLDER MASTER [--again]

Prints a line for each batch, and then waits for a line (or for the end of its input) before the
query goes on. With --again a query that fails is started again in this process;
otherwise its error ends the driver. A query with a file `seed` has another plan in each batch.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from random import Random
from threading import Lock
from typing import Any

from penstock.api import sql
from penstock.cql import parse
from penstock.engine.reports.report import Report
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import Sink
from penstock.engine.spark.handle import SparkRun
from penstock.engine.spark.session import make_session
from penstock.engine.spark.start import start
from penstock.errors import CheckpointError
from penstock.plan.plan import Plan

# The driver is a script in a process of its own, without the paths that pytest has.
sys.path.insert(0, str(Path(__file__).parents[2]))
from support.plans.every_kind import any_kind

TURN = Lock()
"""Queries report from threads of their own; who reads first goes on."""


class Plans:
    """Plans of every kind for a query whose folder has a seed; each process draws others."""

    def __init__(self, folder: Path):
        self._query = parse((folder / "query.cql").read_text())
        tries = folder / "tries"
        number = len(tries.read_text()) if tries.exists() else 0
        tries.write_text("." * (number + 1))
        self._seed = f"{(folder / 'seed').read_text()} {number}"

    def draw(self, batch: object) -> Plan:
        return any_kind(self._query, Random(f"{self._seed} {batch}"))


class Job:
    """One query with its sink and its checkpoint."""

    def __init__(self, spark: Any, folder: Path):
        self._spark = spark
        self._folder = folder
        self.name = folder.name
        self._run: SparkRun | None = None
        self._plans = Plans(folder) if (folder / "seed").exists() else None

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
        if self._plans is not None and self._run is not None:
            self._run.replan(self._plans.draw(report.batch + 1))
        print(f"{self.name} batch {report.batch}", flush=True)
        with TURN:
            sys.stdin.readline()

    def _start(self) -> SparkRun | None:
        try:
            return self._planned() if self._plans is None else self._switching(self._plans)
        except CheckpointError as error:
            if "is closed" not in error.message:
                raise
            return None

    def _planned(self) -> SparkRun:
        """Started as users do it."""
        run = sql(self._text).start(
            self._spark,
            sink=self._sink,
            checkpoint=str(self._folder / "checkpoint"),
            available_now=True,
            drain=True,
            report=self._tell,
        )
        assert isinstance(run, SparkRun)
        return run

    def _switching(self, plans: Plans) -> SparkRun:
        """Started with a plan of any kind, and not as the one was that has died."""
        options = RunOptions(
            sink=self._sink,
            checkpoint=str(self._folder / "checkpoint"),
            available_now=True,
            drain=True,
            report=self._tell,
        )
        return start(plans.draw("first"), self._spark, options)

    @property
    def _text(self) -> str:
        return (self._folder / "query.cql").read_text()

    @property
    def _sink(self) -> Sink:
        return Sink.named((self._folder / "sink").read_text())


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
