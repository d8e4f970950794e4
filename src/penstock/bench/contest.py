"""One run of one rival on Spark, in a fresh process with a Java machine of its own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Literal, TypeVar

from penstock.bench.measurement import Measurement
from penstock.bench.workload import Workload
from penstock.errors import PenstockError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")

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
    return apart(contest.rival, contest.settings, partial(_run, contest))


def apart(name: str, settings: Mapping[str, str], work: Callable[[SparkSession, str], T]) -> T:
    """The result of `work` on a fresh Spark session and a scratch folder, in its own process.

    `work` is a function of a module, or a `partial` of one.
    """
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as scratch:
        log = Path(scratch, "log")
        try:
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                return pool.submit(_in_session, settings, work, scratch, log).result()
        except PenstockError:
            raise
        except Exception as error:
            raise PenstockError(
                "\n".join([f"the run of {name} failed: {error}", *_tail(log)]),
                hint="`penstock doctor` checks what Spark needs",
            ) from error


@contextmanager
def session(settings: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    """A Spark session of this process, with the settings that are the same for all."""
    from penstock.engine.spark.session import make_session

    spark = make_session(MASTER, {**SETTINGS, **(settings or {})})
    try:
        yield spark
    finally:
        spark.stop()


def _in_session(
    settings: Mapping[str, str], work: Callable[[SparkSession, str], T], scratch: str, log: Path
) -> T:
    """The body of the child process; what Java prints must not mix with results on stdout."""
    with open(log, "wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    Thread(target=_end_with_parent, daemon=True).start()
    with session(settings) as spark:
        return work(spark, scratch)


def _end_with_parent() -> None:
    """Leave no Java machine at work for a benchmark that was killed."""
    parent = parent_process()
    assert parent is not None, "runs in a child process"
    wait([parent.sentinel])
    os._exit(1)


def _run(contest: Contest, spark: SparkSession, scratch: str) -> Measurement:
    from penstock.bench.native import run_native
    from penstock.bench.ours import run_penstock

    run = run_penstock if contest.rival == "penstock" else run_native
    return run(spark, contest.workload, contest.folder, f"{scratch}/checkpoint")


def _tail(log: Path) -> list[str]:
    lines = log.read_text("utf-8", "replace").splitlines() if log.exists() else []
    return lines[-_LAST_LINES:]
