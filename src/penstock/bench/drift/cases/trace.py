"""Traces: what each batch of one run took, and what all of them gave."""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds

from penstock.bench.drift.cases.follower import Follower
from penstock.engine.local import LocalRun
from penstock.engine.reports.report import Report
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import parquet
from penstock.plan.plan import Plan
from penstock.plan.text.parse import render_plan

if TYPE_CHECKING:
    from penstock.engine.spark.handle import SparkRun

Schedule = Mapping[int, Plan]
"""Plans by the first batch that is to follow each; the first one has number 0."""


@dataclass(frozen=True)
class Answer:
    """The results of a run: how many, and a sum over them that does not depend on their order."""

    count: int
    checksum: int


@dataclass(frozen=True)
class Trace:
    """The batches of a run: the CPU-seconds, plan and report of each; and the answer."""

    cpu: tuple[float, ...]
    followed: tuple[Plan, ...]
    reports: tuple[Report, ...]
    answer: Answer

    @property
    def plans(self) -> tuple[str, ...]:
        """The texts of the plans."""
        return tuple(render_plan(plan) for plan in self.followed)

    @property
    def work(self) -> float:
        """CPU-seconds of all batches."""
        return sum(self.cpu)


Open: TypeAlias = "Callable[[Plan, RunOptions], LocalRun | SparkRun]"
"""A way to start plans: in this process, or on Spark."""


def run_once(
    open_: Open, schedule: Schedule, follow: Follower | None, *, is_parallel: bool
) -> Trace:
    """A run over all there is, in which plans change as the schedule or who follows it says.

    CPU-seconds are of all that happens from one report to the next, planning included; where work
    `is_parallel` and elsewhere, those of its tasks.
    """
    reports, plans, clock = list[Report](), list[Plan](), [0.0]

    def report(made: Report) -> None:
        reports.append(made)
        clock.append(time.process_time())
        plans.append(run.pipeline.plan)
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
        )
        if follow is not None:
            options = replace(options, supervisor=follow(schedule[0], options))
        # What earlier runs have left to be collected is not this one's work.
        gc.collect()
        clock[0] = time.process_time()
        run = open_(schedule[0], options)
        run.await_termination()
        cpu = [each.cpu for each in reports] if is_parallel else np.diff(clock).tolist()
        return Trace(tuple(cpu), tuple(plans), tuple(reports), answer_in(results))


def answer_in(folder: Path) -> Answer:
    """The answer that the results in a folder of parquet files come to."""
    rows: pa.Table = ds.dataset(folder, format="parquet").to_table()
    hashes = pd.util.hash_pandas_object(rows.to_pandas(), index=False)
    return Answer(len(rows), int(np.sum(hashes.to_numpy(np.uint64), dtype=np.uint64)))
