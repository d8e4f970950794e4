"""A virtual clock for runs in this process: batches take what their work counts say, and files come
when their time has come. Nothing waits, and every run is the same.

It takes the place of `time` in the modules of the engine that look at the clock; the engine knows
nothing of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.engine import local
from penstock.engine.measures import measured, watch
from penstock.engine.run import pipeline
from penstock.engine.run.job import Job
from penstock.engine.script import script_pipeline, script_report
from penstock.engine.sources import feed
from penstock.engine.state import silence
from penstock.engine.state.frontier import Reading
from penstock.engine.state.manifest import StagedPart
from penstock.engine.wire.facts import Fact, Shed, Told
from penstock.engine.wire.packets import Packet

BEGIN = 1_000_000.0
"""When all begins, seconds since the epoch."""


@dataclass(frozen=True)
class WorkCosts:
    """Seconds for a batch, a row that is read, a row that is kept, and a result."""

    start: float = 0.05
    read: float = 1e-5
    keep: float = 1e-4
    result: float = 2.5e-4

    def seconds(self, facts: Iterable[Fact]) -> float:
        """Seconds of a job that has left these facts."""
        read = kept = found = 0
        for fact in facts:
            match fact.fact if isinstance(fact, Told) else fact:
                case Reading(rows=rows):
                    read, kept = read + rows, kept + rows
                case Shed(rows=rows):
                    kept -= rows
                case StagedPart(rows=rows):
                    found += rows
        return self.start + self.read * read + self.keep * kept + self.result * found


@dataclass
class VirtualClock:
    """What the time is, for the engine; `coming` are files, by the second at which they come."""

    costs: WorkCosts = WorkCosts()
    now: float = BEGIN
    coming: list[tuple[float, Path, Path]] = field(default_factory=list)

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    def perf_counter(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.advance(max(seconds, 1e-6))

    def advance(self, seconds: float) -> None:
        """Let time pass; files whose time has come are there."""
        self.now += seconds
        while self.coming and self.coming[0][0] <= self.now:
            at, hidden, seen = self.coming.pop(0)
            os.utime(hidden, (at, at))
            hidden.rename(seen)

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Be the clock of all runs in this process, and have their work take time."""
        scripts = (script_pipeline, script_report)
        for module in (local, feed, pipeline, *scripts, silence, watch, measured):
            if hasattr(module, "time"):
                patch.setattr(module, "time", self)
        work = local.in_process

        def timed(slices: Sequence[Packet]) -> Any:
            run = work(slices)

            def taking(job: Job) -> Sequence[Fact]:
                facts = run(job)
                self.advance(self.costs.seconds(facts))
                return facts

            return taking

        patch.setattr(local, "in_process", timed)


def arrivals(
    folder: Path, name: str, counts: Sequence[int], keys: int
) -> list[tuple[float, Path, Path]]:
    """Files of a stream, one a second, each there at the end of its second."""
    rng = Random(name)
    (folder / name).mkdir(parents=True)
    (folder / f"{name}.later").mkdir()
    files = []
    for second, count in enumerate(counts):
        times = sorted(rng.randrange(1000 * second, 1000 * (second + 1)) for _ in range(count))
        drawn = pa.array([rng.randrange(keys) for _ in times], pa.int32())
        hidden = folder / f"{name}.later" / f"{second:05}.parquet"
        pq.write_table(pa.table({"ts": pa.array(times, pa.int64()), "k": drawn}), hidden)
        files.append((BEGIN + second + 1, hidden, folder / name / hidden.name))
    return files
