"""How many seconds a plan takes in batches, in this process or on Spark."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from penstock.engine.local import open_run
from penstock.engine.reports.report import Report
from penstock.engine.routes.routing import routing_of
from penstock.engine.rows.layout import Layout
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import noop
from penstock.plan.plan import Plan


@dataclass(frozen=True)
class BatchRun:
    """The seconds of all batches, how many there were, their rounds of work, the results, and the
    CPU-seconds of all tasks."""

    seconds: float
    batches: int
    rounds: int
    results: int
    cpu: float = 0.0


RunPlan = Callable[[Plan], BatchRun]


def run_in_process(plan: Plan) -> BatchRun:
    """One run over all there is; in CPU-seconds, so that other processes do not count."""
    reports: list[Report] = []
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder:
        run = open_run(
            plan, RunOptions(sink=noop(), checkpoint=f"{folder}/run", report=reports.append)
        )
        started = time.process_time()
        run.available_now()
        return _summed(plan, reports, time.process_time() - started)


@contextmanager
def spark_runs() -> Iterator[RunPlan]:
    """A way to run plans on a Spark session of its own; in seconds of wall time, all cores."""
    from penstock.engine.spark.session import make_session
    from penstock.engine.spark.start import start

    spark = make_session()

    def run(plan: Plan) -> BatchRun:
        with tempfile.TemporaryDirectory(prefix="penstock-") as folder:
            handle = start(
                plan, spark, RunOptions(sink=noop(), checkpoint=f"{folder}/run", available_now=True)
            )
            handle.await_termination()
            reports = list(handle.reports)
            return _summed(plan, reports, sum(report.seconds for report in reports))

    try:
        yield run
    finally:
        spark.stop()


def _summed(plan: Plan, reports: list[Report], seconds: float) -> BatchRun:
    rounds = routing_of(plan, Layout(plan.query)).rounds
    results = reports[-1].total_results if reports else 0
    cpu = sum(report.cpu for report in reports)
    return BatchRun(seconds, len(reports), rounds * len(reports), results, cpu)
