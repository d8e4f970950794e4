"""Drivers of Spark that die while they run a script over tables that change."""

from __future__ import annotations

import multiprocessing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from support.engines.crashes import Crash, arm
from support.tables.table_scripts import TableScript

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class TableRun:
    """The script over files in a folder, to be run to its end in a process of its own."""

    folder: Path
    crash: Crash | None = None

    def exit_code(self) -> int | None:
        """How the process ends: 0, or minus the signal that killed it."""
        process = multiprocessing.get_context("spawn").Process(target=perform, args=(self,))
        process.start()
        process.join()
        return process.exitcode


def perform(run: TableRun) -> None:
    """Run in a session of its own, and die where it says."""
    from penstock.engine.spark.session import make_session

    spark = make_session("local[2]", {"spark.sql.shuffle.partitions": "2"})
    if run.crash is not None:
        arm(run.crash)
    finish(spark, run.folder)
    spark.stop()


def finish(spark: SparkSession, folder: Path) -> None:
    """Run over all there is in this process, drain, and change the table after each batch."""
    from penstock.engine.run.options import RunOptions
    from penstock.engine.sinks.sink import noop
    from penstock.engine.spark.start import start_script
    from support.engines.script_runs import plans_of

    case = TableScript(folder)
    options = RunOptions(
        sink=noop(),
        checkpoint=str(folder / "checkpoint"),
        partitions=2,
        available_now=True,
        drain=True,
        report=case.after,
    )
    script = case.script
    plans = plans_of(script, Random(3))
    start_script(script, plans, case.sinks, spark, options).await_termination()
