"""The charts of a run: rates, results, busy share, delay, batches, state and what is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from penstock.engine.reports.report import Report
from penstock.watch.charts.chart import Chart, Curve
from penstock.watch.charts.measured import a_second, lag_seconds
from penstock.watch.log_view import LogView
from penstock.watch.verdict import wanted_delay

_Values = Callable[[Report], float | None]


def run_charts(log: LogView) -> list[Chart]:
    """The charts of a whole run, in the order in which a reader wants them."""
    makers = (rate_chart, busy_chart, second_chart, state_chart, result_chart, delay_chart)
    return [made(log) for made in makers]


def rate_chart(log: LogView) -> Chart:
    """Tuples/s of each input, beside those that the plan was made for."""
    curves = []
    for hue, alias in enumerate(_inputs(log)):
        curves.append(_curve(log, alias, _of_input(alias, "rate"), hue=hue))
        wanted = _of_input(alias, "predicted_rate")
        curves.append(_curve(log, f"{alias}, expected", wanted, True, hue))
    return _chart(log, "rates", "Tuples/s of each input, by event time", *curves, unit="rate")


def result_chart(log: LogView) -> Chart:
    """Results for each second of event time."""
    found = _curve(log, "results/s", lambda r: a_second(r.results, r))
    wanted = _curve(log, "expected", _expected("output_rate"), True)
    title = "Results for a second of event time"
    return _chart(log, "results", title, found, wanted, unit="rate")


def busy_chart(log: LogView) -> Chart:
    """The part of the clock that each batch was not waiting."""
    curve = _curve(log, "part of the clock that is not spent waiting", lambda r: r.busy)
    return _chart(log, "busy", "Busy", curve, unit="percent", least=1.0)


def second_chart(log: LogView) -> Chart:
    """The seconds that batches took, against the trigger."""
    took = _curve(log, "a batch takes", lambda r: r.seconds)
    return _chart(log, "seconds", "Seconds of batches", took, *_trigger(log), unit="seconds")


def phase_chart(log: LogView) -> Chart:
    """The same by phase; to wait is no work."""
    names = dict.fromkeys(name for report in log.reports for name in report.phases)
    spent = [name for name in names if name != "wait"]
    curves = [_curve(log, name, _of_phase(name), hue=hue) for hue, name in enumerate(spent)]
    chart = _chart(log, "phases", "Seconds by phase", *curves, *_trigger(log), unit="seconds")
    return replace(chart, is_stacked=True)


def _trigger(log: LogView) -> list[Curve]:
    head = log.head
    if head is None or head.available_now or head.trigger <= 0:
        return []
    return [_curve(log, "trigger", lambda _: head.trigger, True, 1)]


def backlog_chart(log: LogView) -> Chart:
    """Files and blocks that are there and unread; nothing where that is not told."""
    waiting = _curve(log, "backlog", lambda r: sum(r.backlog.values()) if r.backlog else None)
    return _chart(log, "backlog", "Backlog: files and blocks that wait to be read", waiting)


def state_chart(log: LogView) -> Chart:
    """Rows in all windows."""
    held = _curve(log, "rows in the state", lambda r: r.state_tuples)
    wanted = _curve(log, "expected", _expected("state"), True)
    return _chart(log, "state", "State", held, wanted)


def delay_chart(log: LogView) -> Chart:
    """The delay of results, beside the expected and the wanted one, and the lag."""
    lag = _curve(log, "lag", lag_seconds)
    delay = _curve(log, "delay", lambda r: r.delay, hue=1)
    expected = _curve(log, "expected delay", _expected("delay"), True, 1)
    most = wanted_delay(log.head)
    wanted = [] if most is None else [_curve(log, "wanted delay", lambda _: most, True, 6)]
    return _chart(log, "delay", "Lag and delay", lag, delay, expected, *wanted, unit="seconds")


def kept_chart(log: LogView) -> Chart:
    """The fraction that the drop box of each input is set to keep."""
    curves = [
        _curve(log, alias, _of_input(alias, "keep"), hue=hue)
        for hue, alias in enumerate(_inputs(log))
    ]
    return _chart(log, "kept", "Kept of each input", *curves, unit="percent", least=1.0)


def _chart(log: LogView, name: str, title: str, *curves: Curve, **more: Any) -> Chart:
    """A chart with those of its curves of which something is known."""
    plans = [report.plan for report in log.reports]
    batches = tuple(report.batch for report in log.reports)
    changed = (b for b, new, old in zip(batches[1:], plans[1:], plans, strict=False) if new != old)
    known = tuple(curve for curve in curves if any(v is not None for v in curve.values))
    ats = tuple(report.at for report in log.reports)
    return Chart(name, title, batches, known, tuple(changed), ats=ats, **more)


def _curve(log: LogView, name: str, of: _Values, is_expected: bool = False, hue: int = 0) -> Curve:
    return Curve(name, tuple(of(report) for report in log.reports), is_expected, hue)


def _inputs(log: LogView) -> list[str]:
    return list(dict.fromkeys(alias for report in log.reports for alias in report.inputs))


def _expected(field: str) -> _Values:
    """What was expected of the plan, by a field of the prediction."""

    def value(report: Report) -> float | None:
        found: float | None = getattr(report.prediction, field, None)
        return found

    return value


def _of_phase(name: str) -> _Values:
    return lambda report: report.phases.get(name, 0.0)


def _of_input(alias: str, field: str) -> _Values:
    def value(report: Report) -> float | None:
        mine = report.inputs.get(alias)
        found: float | None = getattr(mine, field, None)
        return found

    return value
