"""How a batch grows on Spark with rate, window, keys and partitions, one of them at a time.

Time and state should grow as the work does, which is what is read and found, and not at all with
partitions that have nothing to do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypedDict

from penstock.api import sql
from penstock.bench.data import ensure_data
from penstock.bench.workload import JOIN3, Workload
from penstock.duration import MICROS
from penstock.engine.sinks.sink import noop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.engine.reports.report import Report

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Setting:
    """A workload and the number of partitions that it is run in."""

    workload: Workload
    partitions: int


@dataclass(frozen=True)
class Growth:
    """The factors, by which each dimension is multiplied, and the batches that are measured once
    windows are full; a batch is of a second."""

    factors: tuple[int, ...] = (1, 2, 4, 8)
    batches: int = 10
    base: Setting = Setting(
        replace(JOIN3, name="growth", distinct=1_600_000, rate=20_000, step=MICROS), 2
    )


QUICK_GROWTH = Growth(factors=(1, 2, 4), batches=6)

_DIMENSIONS: dict[str, Callable[[Setting, int], Setting]] = {
    "rate": lambda s, n: replace(s, workload=replace(s.workload, rate=n * s.workload.rate)),
    "window": lambda s, n: replace(s, workload=replace(s.workload, window=n * s.workload.window)),
    "keys": lambda s, n: replace(s, workload=replace(s.workload, distinct=n * s.workload.distinct)),
    "partitions": lambda s, n: replace(s, partitions=n * s.partitions),
}
"""What grows, and the setting in which it is so many times as large."""


class GrowthFigures(TypedDict):
    """Medians of the batches of a setting, and how many times those of the smallest they are: of
    the work, of CPU-seconds in tasks, of seconds by the clock, and of the rows of state."""

    dimension: str
    factor: int
    tuples: int
    results: int
    state_tuples: int
    cpu_s: float
    seconds: float
    work_growth: float
    cpu_growth: float
    seconds_growth: float
    state_growth: float


class GrowthDocument(TypedDict):
    """The figures for programs."""

    measured_batches: int
    settings: list[GrowthFigures]


@dataclass(frozen=True)
class _Batch:
    """The medians of one setting."""

    tuples: float
    results: float
    state: float
    cpu: float
    seconds: float


def run_growth(
    spark: SparkSession, size: Growth, folder: Path, progress: Progress
) -> GrowthDocument:
    """Every dimension by every factor."""
    made: list[GrowthFigures] = []
    progress("the smallest setting, twice: workers start and code is loaded")
    base = [_measured(spark, size, size.base, folder) for _ in range(2)][-1]
    for dimension, grown in _DIMENSIONS.items():
        for factor in size.factors:
            found = base
            if factor > 1:
                progress(f"{dimension} × {factor}")
                found = _measured(spark, size, grown(size.base, factor), folder)
            made.append(_figures(dimension, factor, found, base))
    return {"measured_batches": size.batches, "settings": made}


def _measured(spark: SparkSession, size: Growth, setting: Setting, folder: Path) -> _Batch:
    work = setting.workload
    work = replace(work, seconds=work.window + size.batches)
    reports: list[Report] = []
    with TemporaryDirectory() as place:
        run = sql(work.cql(ensure_data(work, folder))).start(
            spark,
            sink=noop(),
            checkpoint=f"{place}/checkpoint",
            partitions=setting.partitions,
            available_now=True,
            replan="off",
            report=reports.append,
        )
        run.await_termination()
    full = [report for report in reports if report.span][-size.batches :]
    return _Batch(
        median(sum(report.read.values()) for report in full),
        median(report.results for report in full),
        median(report.state_tuples for report in full),
        median(report.cpu for report in full),
        median(report.seconds for report in full),
    )


def _figures(dimension: str, factor: int, found: _Batch, base: _Batch) -> GrowthFigures:
    return {
        "dimension": dimension,
        "factor": factor,
        "tuples": round(found.tuples),
        "results": round(found.results),
        "state_tuples": round(found.state),
        "cpu_s": round(found.cpu, 3),
        "seconds": round(found.seconds, 3),
        "work_growth": _growth(found.tuples + found.results, base.tuples + base.results),
        "cpu_growth": _growth(found.cpu, base.cpu),
        "seconds_growth": _growth(found.seconds, base.seconds),
        "state_growth": _growth(found.state, base.state),
    }


def _growth(found: float, base: float) -> float:
    return round(found / base, 2) if base else 0.0
