"""The curves of a run: rates, busy share, seconds of batches, state, results, lag and delay."""

from __future__ import annotations

from collections.abc import Callable

from penstock.engine.reports.report import Report
from penstock.plan.explain.quantity import percent, seconds
from penstock.watch.log_view import LogView
from penstock.watch.now import a_second, lag_seconds
from penstock.watch.report.curves import Chart, Curve

_Values = Callable[[Report], float | None]


def run_charts(log: LogView) -> list[Chart]:
    """The charts of a log, in the order in which a reader wants them."""
    return [_rates(log), _busy(log), _seconds(log), _state(log), _results(log), _delays(log)]


def _chart(log: LogView, title: str, *curves: Curve, least: float = 0.0) -> Chart:
    plans = [report.plan for report in log.reports]
    batches = tuple(report.batch for report in log.reports)
    changed = (b for b, new, old in zip(batches[1:], plans[1:], plans, strict=False) if new != old)
    return Chart(title, batches, curves, tuple(changed), least=least)


def _curve(log: LogView, name: str, of: _Values, is_expected: bool = False, hue: int = 0) -> Curve:
    return Curve(name, tuple(of(report) for report in log.reports), is_expected, hue)


def _rates(log: LogView) -> Chart:
    aliases = dict.fromkeys(alias for report in log.reports for alias in report.inputs)
    curves = []
    for hue, alias in enumerate(aliases):
        curves.append(_curve(log, alias, _of_input(alias, "rate"), hue=hue))
        wanted = _of_input(alias, "predicted_rate")
        curves.append(_curve(log, f"{alias}, expected", wanted, True, hue))
    return _chart(log, "Tuples/s of each input, by event time", *curves)


def _expected(field: str) -> _Values:
    """What was expected of the plan, by a field of the prediction."""

    def value(report: Report) -> float | None:
        found: float | None = getattr(report.prediction, field, None)
        return found

    return value


def _of_input(alias: str, field: str) -> _Values:
    def value(report: Report) -> float | None:
        mine = report.inputs.get(alias)
        found: float | None = getattr(mine, field, None)
        return found

    return value


def _busy(log: LogView) -> Chart:
    curve = _curve(log, "part of the clock that is not spent waiting", lambda r: r.busy)
    made = _chart(log, "Busy", curve, least=1.0)
    return _as(made, percent)


def _seconds(log: LogView) -> Chart:
    curves = [_curve(log, "a batch takes", lambda r: r.seconds)]
    head = log.head
    if head is not None and not head.available_now and head.trigger > 0:
        curves.append(_curve(log, "trigger", lambda _: head.trigger, True, 1))
    return _as(_chart(log, "Seconds of batches", *curves), seconds)


def _state(log: LogView) -> Chart:
    held = _curve(log, "rows in the state", lambda r: r.state_tuples)
    wanted = _curve(log, "expected", _expected("state"), True)
    return _chart(log, "State", held, wanted)


def _results(log: LogView) -> Chart:
    found = _curve(log, "results/s", lambda r: a_second(r.results, r))
    wanted = _curve(log, "expected", _expected("output_rate"), True)
    return _chart(log, "Results for a second of event time", found, wanted)


def _delays(log: LogView) -> Chart:
    lag = _curve(log, "lag of the frontier", lag_seconds)
    delay = _curve(log, "delay of results", lambda r: r.delay, hue=1)
    wanted = _curve(log, "expected delay", _expected("delay"), True, 1)
    return _as(_chart(log, "Lag and delay", lag, delay, wanted), seconds)


def _as(chart: Chart, shown: Callable[[float], str]) -> Chart:
    return Chart(chart.title, chart.batches, chart.curves, chart.marks, shown, chart.least)
