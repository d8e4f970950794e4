"""Traces: what each batch of one run took, and what all of them gave."""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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


@dataclass(frozen=True)
class Entry:
    """A run to be made: its plans, and who follows it, if anybody."""

    schedule: Schedule
    follow: Follower | None = None


class Contestant:
    """A run over all there is, in which plans change as the schedule or who follows it says.

    CPU-seconds are of all that a batch does, planning included; where work `is_parallel` and
    elsewhere, those of its tasks.
    """

    def __init__(self, open_: Open, entry: Entry, scratch: str, *, is_parallel: bool):
        self._schedule = entry.schedule
        self._results = Path(scratch, "results")
        self._is_parallel = is_parallel
        self._reports, self._plans = list[Report](), list[Plan]()
        self._cpu = list[float]()
        options = RunOptions(
            parquet(str(self._results)),
            f"{scratch}/state",
            available_now=True,
            report=self._report,
        )
        if entry.follow is not None:
            options = replace(options, supervisor=entry.follow(entry.schedule[0], options))
        started = time.process_time()
        self._run = open_(entry.schedule[0], options)
        self._opening = time.process_time() - started

    def step(self, seconds: float | None) -> bool:
        """Go on for so many seconds, and until a batch is done; whether there is more to do."""
        started = time.process_time()
        is_over = self._run.await_termination(seconds)
        self._cpu.append(time.process_time() - started)
        return not is_over

    def trace(self) -> Trace:
        """What came of it."""
        cpu = [each.cpu for each in self._reports] if self._is_parallel else self._by_batch()
        return Trace(tuple(cpu), tuple(self._plans), tuple(self._reports), answer_in(self._results))

    def _by_batch(self) -> list[float]:
        """Opening belongs to the first batch, and what it takes to find the end to the last one."""
        batches = len(self._reports)
        cpu, after = self._cpu[:batches], self._cpu[batches:]
        return [self._opening + cpu[0], *cpu[1:-1], cpu[-1] + sum(after)]

    def _report(self, made: Report) -> None:
        self._reports.append(made)
        self._plans.append(self._run.pipeline.plan)
        plan = self._schedule.get(made.batch + 1)
        if plan is not None:
            self._run.replan(plan)


def race(open_: Open, entries: Sequence[Entry], *, is_parallel: bool) -> list[Trace]:
    """Make runs side by side, a batch of each by turns, so that whatever the machine does in the
    meantime happens to all of them; where work `is_parallel`, one after the other."""
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as scratch, _tidy():
        runs = [
            Contestant(open_, entry, f"{scratch}/{number}", is_parallel=is_parallel)
            for number, entry in enumerate(entries)
        ]
        going = runs
        while going:
            # Forwards and backwards, so that nobody always comes after the same one.
            going = [run for run in reversed(going) if run.step(None if is_parallel else 0.0)]
        return [run.trace() for run in runs]


@contextmanager
def _tidy() -> Iterator[None]:
    """What earlier runs have left to be collected is not the work of these."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def answer_in(folder: Path) -> Answer:
    """The answer that the results in a folder of parquet files come to."""
    rows: pa.Table = ds.dataset(folder, format="parquet").to_table()
    hashes = pd.util.hash_pandas_object(rows.to_pandas(), index=False)
    return Answer(len(rows), int(np.sum(hashes.to_numpy(np.uint64), dtype=np.uint64)))
