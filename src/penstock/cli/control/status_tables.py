"""The tables of a status: streams, inputs, state, phases, operators and figures of a batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penstock.engine.reports.parts import FigureReport, OperatorReport
from penstock.engine.reports.report import Report
from penstock.engine.rows.event_time import moment
from penstock.plan.explain.quantity import count, figure, percent, seconds, shortened
from penstock.table import table

_WIDEST = 40
"""Characters of a condition that are shown."""
_MOST = 20
"""Rows at most: the worst come first."""


def tables(report: Report) -> Iterator[list[str]]:
    """The tables that have something to show, without the columns in which nothing is known."""
    made = (
        (("stream", "rows", "late", "malformed", "newest"), _streams(report)),
        (
            ("input", "tuples", "tuples/s", "expected", "by the clock", "shed", "kept"),
            _inputs(report),
        ),
        (("state", "tuples", "expected", "bytes"), _modules(report)),
        (("phase", "seconds", "share"), _phases(report)),
        (("figure", "measured", "error", "expected", "factor"), _figures(report)),
        (("operator", "in", "out", "out/in", "expected", "factor", "seconds"), _operators(report)),
    )
    for heading, rows in made:
        if rows:
            yield _known(heading, rows[:_MOST])
            if rows[_MOST:]:
                yield [f"… {count(len(rows) - _MOST)} more"]


def _known(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    kept = [place for place in range(len(heading)) if any(row[place] for row in rows)]
    lines = table([heading[p] for p in kept], [[row[p] for p in kept] for row in rows])
    return [line.rstrip() for line in lines]


def _maybe(value: float | None) -> str:
    return "" if value is None else figure(value)


def _some(many: int | None) -> str:
    """A count that is worth a column only where there is something."""
    return count(many) if many else ""


def _streams(report: Report) -> list[list[str]]:
    return [
        [
            name,
            count(rows),
            _some(report.late.get(name)),
            _some(report.malformed.get(name)),
            "" if (newest := report.newest.get(name)) is None else moment(newest),
        ]
        for name, rows in report.read.items()
    ]


def _inputs(report: Report) -> list[list[str]]:
    return [
        [
            alias,
            count(each.tuples),
            _maybe(each.rate),
            _maybe(each.predicted_rate),
            _maybe(each.arrival_rate),
            _some(each.shed),
            percent(each.keep) if each.keep < 1 or each.shed else "",
        ]
        for alias, each in report.inputs.items()
    ]


def _modules(report: Report) -> list[list[str]]:
    return [
        [name, count(each.tuples), _maybe(each.predicted), count(each.bytes)]
        for name, each in report.modules.items()
    ]


def _phases(report: Report) -> list[list[str]]:
    whole = sum(report.phases.values())
    return [
        [name, seconds(spent), percent(spent / whole) if whole > 0 else ""]
        for name, spent in report.phases.items()
    ]


def _figures(report: Report) -> list[list[str]]:
    return [_figure(each) for each in sorted(report.figures, key=lambda each: -each.factor)]


def _figure(each: FigureReport) -> list[str]:
    return [
        shortened(each.what, _WIDEST),
        _value(each),
        "" if each.error is None else f"± {figure(each.error)}",
        _maybe(each.predicted),
        "" if each.predicted is None else _factor(each.factor),
    ]


def _value(each: FigureReport) -> str:
    match each.unit:
        case "s":
            return seconds(each.value)
        case "passes":
            return f"{percent(each.value)} pass"
    return f"{figure(each.value)} {each.unit}".rstrip()


def _factor(factor: float) -> str:
    return f"{figure(factor)}×"


def _operators(report: Report) -> list[list[str]]:
    worst = sorted(report.operators, key=lambda operator: -_off(operator))
    return [_operator(operator) for operator in worst]


def _out(operator: OperatorReport) -> float | None:
    """Rows out for one in."""
    return operator.came_out / operator.went_in if operator.went_in else None


def _off(operator: OperatorReport) -> float:
    """How many times too large or too small the prediction was."""
    what = FigureReport("", _out(operator) or 0.0, None, "", operator.predicted)
    return 1.0 if _out(operator) is None else what.factor


def _operator(operator: OperatorReport) -> list[str]:
    route = f" (route {operator.route})" if operator.route else ""
    is_known = operator.predicted is not None and operator.went_in
    return [
        shortened(f"{operator.driver}: {operator.operator}", _WIDEST) + route,
        count(operator.went_in),
        count(operator.came_out),
        _maybe(_out(operator)),
        _maybe(operator.predicted),
        _factor(_off(operator)) if is_known else "",
        seconds(operator.seconds) if operator.seconds else "",
    ]
