"""One run of one rival on Spark, in a fresh process with a Java machine of its own."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

from penstock.api import sql
from penstock.bench.measurement import BatchTime, Measurement
from penstock.bench.workload import Workload
from penstock.engine.sinks import noop
from penstock.errors import PenstockError

MASTER = "local[2]"
# The same for all rivals. Two shuffle partitions are the best for two cores; all progress reports
# are kept, since batch times come from them.
SETTINGS = {
    "spark.driver.memory": "4g",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.streaming.numRecentProgressUpdates": "10000",
}
_LAST_LINES = 20


@dataclass(frozen=True)
class Contest:
    """A rival, what it is to run, and the settings that are its own."""

    rival: Literal["penstock", "spark_native"]
    workload: Workload
    folder: Path
    settings: Mapping[str, str]


def run_apart(contest: Contest) -> Measurement:
    """Run in a process of its own, so that every run starts equally cold."""
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as scratch:
        log = Path(scratch, "log")
        try:
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                return pool.submit(_run, contest, scratch, log).result()
        except PenstockError:
            raise
        except (Exception, BrokenProcessPool) as error:
            raise PenstockError(
                f"the run of {contest.rival} failed: {_first_line(error)}\n{_tail(log)}",
                hint="`penstock doctor` checks what Spark needs",
            ) from error


def _run(contest: Contest, scratch: str, log: Path) -> Measurement:
    """The body of the child process; what Java prints must not mix with results on stdout."""
    with open(log, "wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    from penstock.engine.spark.session import make_session

    spark = make_session(MASTER, {**SETTINGS, **contest.settings})
    run = _rivals()[contest.rival]
    try:
        measured: Measurement = run(
            spark, contest.workload, contest.folder, f"{scratch}/checkpoint"
        )
        return measured
    finally:
        spark.stop()


def _rivals() -> Mapping[str, Any]:
    from penstock.bench.native import run_native

    return {"penstock": run_penstock, "spark_native": run_native}


def run_penstock(spark: Any, workload: Workload, folder: Path, checkpoint: str) -> Measurement:
    """Run Penstock over all files, into its no-op sink, through its public face."""
    query = sql(workload.cql(folder))
    started = time.perf_counter()
    run = query.start(spark, sink=noop(), checkpoint=checkpoint, available_now=True)
    run.await_termination()
    seconds = time.perf_counter() - started
    # Spark sees slices, not tuples: those are counted by the engine's own reports.
    triggers = {
        p["batchId"]: p["durationMs"]["triggerExecution"] / 1000
        for p in run.streaming.recentProgress
    }
    batches = tuple(
        BatchTime(sum(r.read.values()), triggers[r.batch], r.seconds) for r in run.reports
    )
    return Measurement(
        seconds=seconds,
        tuples=sum(batch.tuples for batch in batches),
        batches=batches,
        results=run.reports[-1].total_results,
        state_tuples=max(report.state_tuples for report in run.reports),
    )


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _tail(log: Path) -> str:
    lines = log.read_text("utf-8", "replace").splitlines() if log.exists() else []
    return "\n".join(lines[-_LAST_LINES:])
