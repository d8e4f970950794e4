"""The view Now: a line for each stream, the busy share, and a verdict in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from penstock.engine.reports.report import Report
from penstock.watch.charts.chart import Chart
from penstock.watch.charts.measured import a_second, lag_seconds
from penstock.watch.charts.run_charts import busy_chart, delay_chart, rate_chart, result_chart
from penstock.watch.log_view import HISTORY, LogView
from penstock.watch.verdict import busy_share, verdict, wanted_delay

Maybe = tuple[float | None, ...]


@dataclass(frozen=True)
class StreamLine:
    """An input as it arrives: tuples/s by event time, and what became of its rows."""

    alias: str
    rate: float | None
    rates: Maybe
    """The rate in each of the last batches, the oldest first."""

    predicted: float | None
    """Tuples/s that the plan was made for."""

    arrival_rate: float | None
    """Tuples/s by the clock."""

    tuples: int
    shed: int
    kept: float
    """The fraction that its drop box is set to keep."""


@dataclass(frozen=True)
class SourceLine:
    """A source in the last batch: rows met, late and malformed ones of them, and how far behind
    the newest tuple of all its own newest is (seconds of event time)."""

    name: str
    read: int
    late: int
    malformed: int
    behind: float | None
    backlog: int | None


@dataclass(frozen=True)
class Now:
    """How a query stands."""

    checkpoint: str
    query: str | None
    is_running: bool
    reads_all: bool
    """Whether it reads what is there and then ends: busy all the time, and rightly so."""

    verdict: str
    batch: int | None
    at: float | None
    """When the last batch was final, seconds since the epoch."""

    busy: float | None
    """The part of the clock that the last batches were not waiting, 0 to 1."""

    busies: Maybe
    lag: float | None
    """Seconds that the frontier is behind the newest tuple, in event time."""

    lags: Maybe
    delay: float | None
    expected_delay: float | None
    wanted_delay: float | None
    """Seconds that results should be late at most; None where nobody has said so, or where all
    there is gets read."""

    results: int
    total_results: int
    output_rate: float | None
    """Results for a second of event time."""

    output_rates: Maybe
    predicted_output_rate: float | None
    work: float | None
    """CPU-seconds for a second of event time."""

    predicted_work: float | None
    waiting: str | None
    """Why the last batch has no results, if it has none and that is known."""

    streams: tuple[StreamLine, ...] = ()
    sources: tuple[SourceLine, ...] = ()
    charts: tuple[Chart, ...] = ()


def now_view(log: LogView) -> Now:
    """The view of a log."""
    last, recent = log.last, log.reports[-HISTORY:]
    wanted = None if last is None else last.prediction
    return Now(
        checkpoint=log.checkpoint,
        query=log.query,
        is_running=log.is_running,
        reads_all=log.head is not None and log.head.available_now,
        verdict=verdict(log),
        batch=None if last is None else last.batch,
        at=None if last is None else last.at,
        busy=busy_share(log),
        busies=_history(recent, lambda report: report.busy),
        lag=None if last is None else lag_seconds(last),
        lags=_history(recent, lag_seconds),
        delay=None if last is None else last.delay,
        expected_delay=None if wanted is None else wanted.delay,
        wanted_delay=wanted_delay(log.head),
        results=0 if last is None else last.results,
        total_results=0 if last is None else last.total_results,
        output_rate=None if last is None else a_second(last.results, last),
        output_rates=_history(recent, lambda report: a_second(report.results, report)),
        predicted_output_rate=None if wanted is None else wanted.output_rate,
        work=None if last is None or not last.cpu else a_second(last.cpu, last),
        predicted_work=None if wanted is None else wanted.utilization,
        waiting=None if last is None or last.waiting is None else last.waiting.reason,
        streams=() if last is None else tuple(_stream(recent, alias) for alias in last.inputs),
        sources=() if last is None else tuple(_source(last, name) for name in last.read),
        charts=() if last is None else tuple(chart(log.recent) for chart in _CHARTS),
    )


_CHARTS = (rate_chart, result_chart, busy_chart, delay_chart)


def _history(reports: Sequence[Report], of: Callable[[Report], float | None]) -> Maybe:
    return tuple(of(report) for report in reports)


def _stream(recent: Sequence[Report], alias: str) -> StreamLine:
    mine = recent[-1].inputs[alias]

    def rate(report: Report) -> float | None:
        return report.inputs[alias].rate if alias in report.inputs else None

    return StreamLine(
        alias=alias,
        rate=mine.rate,
        rates=_history(recent, rate),
        predicted=mine.predicted_rate,
        arrival_rate=mine.arrival_rate,
        tuples=mine.tuples,
        shed=mine.shed,
        kept=mine.keep,
    )


def _source(last: Report, name: str) -> SourceLine:
    known = [time for time in last.newest.values() if time is not None]
    newest = last.newest.get(name)
    return SourceLine(
        name=name,
        read=last.read[name],
        late=last.late.get(name, 0),
        malformed=last.malformed.get(name, 0),
        behind=None if newest is None else (max(known) - newest) / 1e6,
        backlog=last.backlog.get(name),
    )
