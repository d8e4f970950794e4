"""Trials: a plan over a stretch of data on Spark, with what it took and gave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import penstock as ps
from penstock.cli.demo.stage import Stage

if TYPE_CHECKING:
    from penstock.api import ContinuousQuery
    from penstock.engine.reports.report import Report

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Trial:
    """A plan as it was measured, once its windows were full."""

    plan: str
    work: float
    """CPU-seconds of tasks for a second of data."""

    seconds: float
    """Seconds by the clock for a second of data, without those that any batch takes to start."""

    start: float
    """Seconds by the clock that any batch takes to start: what Spark needs beside its tasks."""

    state: int
    """Rows in the state."""

    rows: tuple[Row, ...]
    """All its results, in one order."""


def try_out(query: ContinuousQuery, stage: Stage, name: str) -> Trial:
    """Run a query over all there is by its plan, in a scratch folder of that name."""
    reports, place = list["Report"](), stage.scratch / name
    run = query.start(
        stage.spark,
        sink=ps.parquet(place / "results"),
        checkpoint=place / "checkpoint",
        available_now=True,
        replan="off",
        report=reports.append,
    )
    with run:
        stage.wait_for(run)
    return trial_of(reports, rows_in(place / "results"))


def trial_of(reports: Sequence[Report], rows: tuple[Row, ...]) -> Trial:
    """The figures of a run's batches: those of the later half, which meet full windows."""
    full = [report for report in reports if report.span]
    later = full[len(full) // 2 :]
    start = median(r.phases.get("spark", 0.0) for r in later)
    return Trial(
        plan=reports[-1].plan,
        work=median(r.cpu / r.span for r in later if r.span),
        seconds=median(max(r.seconds - start, 0.0) / r.span for r in later if r.span),
        start=start,
        state=max(r.state_tuples for r in reports),
        rows=rows,
    )


def rows_in(folder: Path) -> tuple[Row, ...]:
    """The rows of a parquet sink, in the order of their texts."""
    import pyarrow.parquet as pq

    found = [row for path in folder.glob("*.parquet") for row in pq.read_table(path).to_pylist()]
    return tuple(sorted((tuple(row.values()) for row in found), key=repr))
