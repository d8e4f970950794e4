"""The tables of a run: streams, estimated against measured, plans and decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from penstock.duration import MICROS
from penstock.engine.reports.parts import FigureReport
from penstock.engine.reports.report import Report
from penstock.engine.rows.event_time import moment
from penstock.plan.explain.quantity import count, figure, percent, seconds
from penstock.watch.decisions import decisions_view
from penstock.watch.log_view import LogView
from penstock.watch.now import now_view
from penstock.watch.plan_graph import off_by
from penstock.watch.report.markup import Markup, table

_MOST = 40
"""Rows of a table at most, the worst first."""


def streams_table(log: LogView) -> Markup | None:
    """What was met of each source in the batches of the log."""
    sums = {name: Counter[str]() for name in ("read", "late", "malformed", "unreadable")}
    for report in log.reports:
        for name, counts in sums.items():
            counts.update(getattr(report, name))
    rows = [
        [source, *(count(counts[source]) for counts in sums.values())] for source in sums["read"]
    ]
    return table(["stream", "rows", "late", "malformed", "unreadable files"], rows, 4)


def estimates_table(log: LogView) -> Markup | None:
    """Estimated against measured: the whole plan first, then figures, the worst first."""
    told = next((report for report in reversed(log.reports) if report.figures), None)
    figures = sorted(told.figures, key=lambda each: -each.factor)[:_MOST] if told else []
    rows = [*_whole(log), *map(_figure, figures), *_operators(log.last)]
    return table(["figure", "measured", "error", "estimated", "factor"], rows, 4)


def _whole(log: LogView) -> Iterator[list[str]]:
    now, last = now_view(log), log.last
    if last is None:
        return
    state = None if last.prediction is None else last.prediction.state
    figures = {
        "work, CPU-seconds a second": (now.work, now.predicted_work),
        "results/s": (now.output_rate, now.predicted_output_rate),
        "state, tuples": (float(last.state_tuples), state),
        "delay, s": (now.delay, now.expected_delay),
    }
    for what, (measured, estimated) in figures.items():
        if measured is not None or estimated is not None:
            yield [what, *_compared(measured, estimated)]


def _compared(measured: float | None, estimated: float | None, error: str = "") -> list[str]:
    is_known = measured is not None and estimated is not None
    factor = f"{figure(off_by(measured, estimated))}×" if is_known else ""
    return [_maybe(measured), error, _maybe(estimated), factor]


def _figure(each: FigureReport) -> list[str]:
    error = "" if each.error is None else f"± {figure(each.error)}"
    unit = f", {each.unit}" if each.unit else ""
    return [each.what + unit, *_compared(each.value, each.predicted, error)]


def _operators(last: Report | None) -> list[list[str]]:
    """Rows out for one in, of each operator of the last batch."""
    found = []
    for each in () if last is None else last.operators:
        route = f" (route {each.route})" if each.route else ""
        out = each.came_out / each.went_in if each.went_in else None
        row = [f"{each.driver}: {each.operator}{route}, out for one in"]
        found.append((off_by(out, each.predicted), [*row, *_compared(out, each.predicted)]))
    return [row for _, row in sorted(found, key=lambda each: -each[0])][:_MOST]


def decisions_table(log: LogView) -> Markup | None:
    """What was decided, the latest first, with its promise and what came of it."""
    rows = [
        [
            when(each.at),
            "" if each.batch is None else str(each.batch),
            each.kind,
            each.reason + (f"\n{each.plan}" if each.plan else ""),
            "" if each.promise is None else percent(each.promise),
            "" if each.outcome is None else percent(each.outcome),
        ]
        for each in decisions_view(log).decisions
    ]
    return table(["when", "batch", "what", "why", "promised to save", "saved"], rows, 2)


def plans_table(log: LogView) -> Markup | None:
    """The plans that were followed, and by which batches."""
    rows = [
        [each.plan, f"{each.first} to {each.last}", seconds(max(each.until - each.since, 0.0))]
        for each in decisions_view(log).plans
        if each.plan
    ]
    return table(["plan", "batches", "for"], rows, 2)


def when(at: float) -> str:
    """A time of the clock, UTC."""
    return moment(int(at) * MICROS) if at else ""


def _maybe(value: float | None) -> str:
    return "" if value is None else figure(value)
