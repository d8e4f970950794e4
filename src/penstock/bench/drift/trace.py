"""Traces: what each batch of one run took, and what all of them gave."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds

from penstock.engine.local import open_run
from penstock.engine.reports.report import Report
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import parquet
from penstock.plan.plan import Plan

Schedule = Mapping[int, Plan]
"""Plans by the first batch that is to follow each; the first one has number 0."""


@dataclass(frozen=True)
class Answer:
    """The results of a run: how many, and a sum over them that does not depend on their order."""

    count: int
    checksum: int


@dataclass(frozen=True)
class Trace:
    """The CPU-seconds and reports of the batches of a run, and its answer."""

    cpu: tuple[float, ...]
    reports: tuple[Report, ...]
    answer: Answer

    @property
    def work(self) -> float:
        """CPU-seconds of all batches."""
        return sum(self.cpu)


def run_schedule(schedule: Schedule) -> Trace:
    """A run in this process over all there is, in which plans are changed as the schedule says."""
    reports, clock = list[Report](), [0.0]

    def report(made: Report) -> None:
        reports.append(made)
        clock.append(time.process_time())
        plan = schedule.get(made.batch + 1)
        if plan is not None:
            run.replan(plan)

    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as scratch:
        results = Path(scratch, "results")
        options = RunOptions(parquet(str(results)), f"{scratch}/state", report=report)
        run = open_run(schedule[0], options)
        clock[0] = time.process_time()
        run.available_now()
        return Trace(tuple(np.diff(clock).tolist()), tuple(reports), answer_in(results))


def answer_in(folder: Path) -> Answer:
    """The answer that the results in a folder of parquet files come to."""
    rows: pa.Table = ds.dataset(folder, format="parquet").to_table()
    hashes = pd.util.hash_pandas_object(rows.to_pandas(), index=False)
    return Answer(len(rows), int(np.sum(hashes.to_numpy(np.uint64), dtype=np.uint64)))


Run = Callable[[Schedule], Trace]
"""A way to run plans: in this process, or on Spark."""
