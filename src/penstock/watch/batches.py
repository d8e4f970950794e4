"""The view Batches: phases against the trigger, what waits to be read, work, and skew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.engine.reports.report import Report
from penstock.watch.charts.chart import Chart
from penstock.watch.charts.measured import lag_seconds
from penstock.watch.charts.run_charts import backlog_chart, phase_chart
from penstock.watch.log_view import HISTORY, LogView
from penstock.watch.state import skews_of


@dataclass(frozen=True)
class BatchBar:
    """One batch. Times are seconds; `at` is when it was final, since the epoch."""

    batch: int
    at: float
    seconds: float
    phases: Mapping[str, float]
    """Wall seconds by phase, in the order in which they began."""

    cpu: float
    compiling: float
    busy: float | None
    delay: float | None
    lag: float | None
    read: int
    results: int
    state_tuples: int
    backlog: int | None
    """Pieces (files, blocks) that wait to be read; None where that is not told."""

    plan: str
    is_switch: bool = False
    """Whether the batch before followed another plan."""


@dataclass(frozen=True)
class Batches:
    """The last batches, the oldest first, and the seconds between two looks for data."""

    trigger: float | None
    """None where all there is gets read at once."""

    phases: tuple[str, ...]
    """The names of all phases, in their order."""

    batches: tuple[BatchBar, ...]
    skews: Mapping[str, float] = field(default_factory=dict)
    """After the last batch, the largest partition of each module as a multiple of the mean: the
    others wait for it. Modules of a single partition have none."""

    charts: tuple[Chart, ...] = ()


def batches_view(log: LogView, count: int = HISTORY) -> Batches:
    """The view of a log."""
    shown = log.reports[-count:]
    first = log.reports[-count - 1 : -count] or shown[:1]
    before = (*first, *shown)
    bars = tuple(_bar(each, old) for old, each in zip(before, shown, strict=False))
    names = dict.fromkeys(name for bar in bars for name in bar.phases)
    head = log.head
    trigger = None if head is None or head.available_now else head.trigger
    charts = (phase_chart(log.recent), backlog_chart(log.recent)) if bars else ()
    return Batches(trigger, tuple(names), bars, skews_of(log) if bars else {}, charts)


def _bar(report: Report, before: Report) -> BatchBar:
    return BatchBar(
        batch=report.batch,
        at=report.at,
        seconds=report.seconds,
        phases=report.phases,
        cpu=report.cpu,
        compiling=report.compiling,
        busy=report.busy,
        delay=report.delay,
        lag=lag_seconds(report),
        read=sum(report.read.values()),
        results=report.results,
        state_tuples=report.state_tuples,
        backlog=sum(report.backlog.values()) if report.backlog else None,
        plan=report.plan,
        is_switch=report.plan != before.plan,
    )
