"""Runs of join3 at its limits, each on Spark in a process of its own, beside join3 as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Literal, TypedDict

import numpy as np
import pyarrow as pa

from penstock.bench.contest import apart
from penstock.bench.data import ensure_data, ensure_folder, tuples_of, write_file
from penstock.bench.measurement import WARM_UP
from penstock.bench.workload import ALIASES, JOIN3, Workload
from penstock.duration import MICROS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Progress = Callable[[str], None]
SinkName = Literal["noop", "parquet", "jsonl"]

HOT = 0.3
"""The part of the tuples of one stream that have the same key."""
_PARTNERS = 10
"""Partners of a tuple in each other window, where results are the limit."""
_TINY = replace(JOIN3, rate=10, step=MICROS)
"""Thirty tuples to a batch."""


@dataclass(frozen=True)
class Size:
    """Seconds of join3, tuples of the large state, batches that meet it, tiny batches, and runs of
    each setting, of which medians are taken."""

    seconds: int = 60
    state: int = 50_000_000
    met_by: int = 10
    tiny: int = 40
    repeat: int = 3


QUICK = Size(seconds=40, state=6_000_000, met_by=4, tiny=20, repeat=1)


@dataclass(frozen=True)
class Batch:
    """What a batch read and found, and Spark's `triggerExecution`, seconds."""

    tuples: int
    results: int
    trigger: float


@dataclass(frozen=True)
class Run:
    """The batches that count: windows are full and all is warm."""

    batches: tuple[Batch, ...]

    @property
    def tuples_per_s(self) -> float:
        """Tuples that are read in a second."""
        return sum(b.tuples for b in self.batches) / sum(b.trigger for b in self.batches)

    @property
    def results_per_s(self) -> float:
        """Results that are found in a second."""
        return sum(b.results for b in self.batches) / sum(b.trigger for b in self.batches)

    @property
    def seconds(self) -> float:
        """The median of a batch."""
        return median(b.trigger for b in self.batches)


@dataclass(frozen=True)
class Task:
    """A workload over its files, into a sink; so many of the last batches count."""

    workload: Workload
    folder: Path
    counted: int
    sink: SinkName = "noop"


class LimitFigures(TypedDict):
    """A figure of a limit: what it is, the medians that it is of, and what was promised."""

    name: str
    unit: str
    found: float
    promised: float
    is_kept: bool
    runs: list[float]


class LimitsDocument(TypedDict):
    """The figures for programs."""

    join3_tuples_per_s: float
    repeat: int
    limits: list[LimitFigures]


@dataclass(frozen=True)
class _Limit:
    """A setting, what is measured of its runs, and the least or the most that was promised."""

    name: str
    unit: str
    task: Task
    of: Callable[[Run, float], float]
    promised: float
    is_most: bool = False


def run_limits(size: Size, folder: Path, progress: Progress) -> LimitsDocument:
    """All limits; join3 as it is takes turns with them."""
    base = _join3(size, folder)
    limits = list(_limits(size, folder, base))
    plain: list[float] = []
    found: dict[str, list[float]] = {limit.name: [] for limit in limits}
    for turn in range(size.repeat):
        progress(f"join3 as it is, run {turn + 1} of {size.repeat}")
        plain.append(_run_apart(base).tuples_per_s)
        for limit in limits:
            progress(f"{limit.name}, run {turn + 1} of {size.repeat}")
            found[limit.name].append(limit.of(_run_apart(limit.task), plain[-1]))
    return {
        "join3_tuples_per_s": round(median(plain)),
        "repeat": size.repeat,
        "limits": [_figures(limit, found[limit.name]) for limit in limits],
    }


def _limits(size: Size, folder: Path, base: Task) -> Iterator[_Limit]:
    def part(run: Run, plain: float) -> float:
        return run.tuples_per_s / plain

    yield _Limit("a parquet sink", "of no sink's rate", replace(base, sink="parquet"), part, 0.7)
    yield _Limit("a jsonl sink", "of no sink's rate", replace(base, sink="jsonl"), part, 0.5)
    hot = replace(base, folder=hot_data(base.workload, folder))
    yield _Limit(f"{HOT:.0%} of A with one key", "of uniform keys' rate", hot, part, 0.6)
    window = size.state // (len(ALIASES) * JOIN3.rate)
    long = replace(
        JOIN3,
        window=window,
        distinct=JOIN3.distinct * window // JOIN3.window,
        seconds=window + size.met_by * JOIN3.step // MICROS,
    )
    large = Task(long, ensure_data(long, folder), size.met_by)
    name = f"{size.state / 1e6:.0f} M tuples in state"
    yield _Limit(name, "of the rate with 0.6 M", large, part, 0.7)
    many = replace(base.workload, distinct=JOIN3.rate * JOIN3.window // _PARTNERS)
    rich = Task(many, ensure_data(many, folder), base.counted)
    each = f"{_PARTNERS**2} results a tuple"
    yield _Limit(each, "M results/s", rich, lambda run, _: run.results_per_s / 1e6, 20.0)
    few = replace(_TINY, seconds=_TINY.window + size.tiny)
    tiny = Task(few, ensure_data(few, folder), size.tiny)
    yield _Limit("30 tuples a batch", "s a batch", tiny, lambda run, _: run.seconds, 0.12, True)


def _join3(size: Size, folder: Path) -> Task:
    work = replace(JOIN3, seconds=size.seconds)
    return Task(work, ensure_data(work, folder), work.files - WARM_UP)


def hot_data(workload: Workload, root: Path) -> Path:
    """The tuples of a workload, but that many of its first stream have the same key. The others
    have as many of it as of any, so that results are as many as before."""

    def write(draft: Path) -> None:
        for stream, alias in enumerate(ALIASES):
            (draft / alias).mkdir(parents=True)
            for number in range(workload.files):
                tuples = tuples_of(workload, stream, number)
                if not stream:
                    is_hot = np.random.default_rng(number).random(len(tuples)) < HOT
                    keys = np.where(is_hot, 0, tuples.column("k").to_numpy())
                    tuples = tuples.set_column(1, "k", pa.array(keys))
                write_file(tuples, draft / alias, number)

    return ensure_folder(root / f"hot-{ensure_data(workload, root).name}", write)


def _run_apart(task: Task) -> Run:
    return apart("penstock", {}, partial(_run, task))


def _run(task: Task, spark: SparkSession, scratch: str) -> Run:
    from penstock.api import sql
    from penstock.engine.sinks.sink import jsonl, noop, parquet

    sinks = {
        "noop": noop(),
        "parquet": parquet(f"{scratch}/results"),
        "jsonl": jsonl(f"{scratch}/results.jsonl"),
    }
    run = sql(task.workload.cql(task.folder)).start(
        spark, sink=sinks[task.sink], checkpoint=f"{scratch}/checkpoint", available_now=True
    )
    run.await_termination()
    triggers = {
        p["batchId"]: p["durationMs"]["triggerExecution"] / 1000
        for p in run.streaming.recentProgress
    }
    batches = [
        Batch(sum(r.read.values()), r.results, triggers[r.batch])
        for r in run.reports
        if r.batch in triggers and any(r.read.values())
    ]
    return Run(tuple(batches[-task.counted :]))


def _figures(limit: _Limit, runs: list[float]) -> LimitFigures:
    found = median(runs)
    return {
        "name": limit.name,
        "unit": limit.unit,
        "found": round(found, 3),
        "promised": limit.promised,
        "is_kept": found <= limit.promised if limit.is_most else found >= limit.promised,
        "runs": [round(each, 3) for each in runs],
    }
