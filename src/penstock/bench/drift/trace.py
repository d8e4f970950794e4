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
from penstock.engine.run.supervisor import Supervisor
from penstock.engine.sinks.sink import parquet
from penstock.plan.plan import Plan
from penstock.plan.text.parse import render_plan

Schedule = Mapping[int, Plan]
"""Plans by the first batch that is to follow each; the first one has number 0."""


@dataclass(frozen=True)
class Answer:
    """The results of a run: how many, and a sum over them that does not depend on their order."""

    count: int
    checksum: int


@dataclass(frozen=True)
class Trace:
    """The batches of a run: CPU-seconds, wall seconds and plan of each, its report; the answer."""

    cpu: tuple[float, ...]
    plans: tuple[str, ...]
    reports: tuple[Report, ...]
    answer: Answer

    @property
    def work(self) -> float:
        """CPU-seconds of all batches."""
        return sum(self.cpu)


Run = Callable[[Schedule, Supervisor | None], Trace]
"""A way to run plans: in this process, or on Spark."""


def run_in_process(schedule: Schedule, supervisor: Supervisor | None = None) -> Trace:
    """A run over all there is, in which plans change as the schedule or the supervisor says.

    CPU-seconds are of all that happens from one report to the next, planning included.
    """
    reports, plans, clock = list[Report](), list[str](), [0.0]

    def report(made: Report) -> None:
        reports.append(made)
        clock.append(time.process_time())
        plans.append(render_plan(run.pipeline.plan))
        plan = schedule.get(made.batch + 1)
        if plan is not None:
            run.replan(plan)

    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as scratch:
        results = Path(scratch, "results")
        options = RunOptions(
            parquet(str(results)), f"{scratch}/state", report=report, supervisor=supervisor
        )
        run = open_run(schedule[0], options)
        clock[0] = time.process_time()
        run.available_now()
        cpu = tuple(np.diff(clock).tolist())
        return Trace(cpu, tuple(plans), tuple(reports), answer_in(results))


def answer_in(folder: Path) -> Answer:
    """The answer that the results in a folder of parquet files come to."""
    rows: pa.Table = ds.dataset(folder, format="parquet").to_table()
    hashes = pd.util.hash_pandas_object(rows.to_pandas(), index=False)
    return Answer(len(rows), int(np.sum(hashes.to_numpy(np.uint64), dtype=np.uint64)))
