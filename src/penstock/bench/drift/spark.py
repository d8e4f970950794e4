"""The drift benchmark on Spark: the same scenarios, all in one session."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from penstock.bench.contest import MASTER, SETTINGS
from penstock.bench.drift.following import Setting
from penstock.bench.drift.run import Found, Sizes, run_drift
from penstock.bench.drift.trace import Schedule, Trace, answer_in
from penstock.engine.reports.report import Report
from penstock.engine.run.options import RunOptions
from penstock.engine.run.supervisor import Supervisor
from penstock.engine.sinks.sink import parquet
from penstock.engine.spark.session import make_session
from penstock.engine.spark.start import start
from penstock.plan.text.parse import render_plan


def on_spark(sizes: Sizes, setting: Setting) -> Found:
    """The cases in which plans matter most, on a session of their own."""
    setting.progress("starting Spark")
    spark = make_session(MASTER, SETTINGS)
    try:
        run = partial(run_once, spark)
        return run_drift(sizes, replace(setting, engine="spark", run=run))
    finally:
        spark.stop()


def run_once(spark: SparkSession, schedule: Schedule, supervisor: Supervisor | None) -> Trace:
    """A run over all there is; CPU-seconds are those of all tasks."""
    reports, plans = list[Report](), list[str]()

    def report(made: Report) -> None:
        reports.append(made)
        plans.append(render_plan(run.pipeline.plan))
        plan = schedule.get(made.batch + 1)
        if plan is not None:
            run.replan(plan)

    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as scratch:
        results = Path(scratch, "results")
        options = RunOptions(
            parquet(str(results)),
            f"{scratch}/state",
            available_now=True,
            report=report,
            supervisor=supervisor,
        )
        run = start(schedule[0], spark, options)
        run.await_termination()
        cpu = tuple(each.cpu for each in reports)
        return Trace(cpu, tuple(plans), tuple(reports), answer_in(results))
