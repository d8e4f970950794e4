"""The view Shedding: what is kept of each stream, the delay, and how wide intervals are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.engine.reports.report import Report
from penstock.query.intervals import ENDS
from penstock.watch.charts.chart import Chart
from penstock.watch.charts.run_charts import delay_chart, kept_chart
from penstock.watch.log_view import HISTORY, LogView
from penstock.watch.results import Results, results_view
from penstock.watch.verdict import wanted_delay


@dataclass(frozen=True)
class KeptLine:
    """An input in the last batches: the fractions that its drop box is set to keep, and tuples."""

    alias: str
    keep: float
    keeps: tuple[float | None, ...]
    shed: int
    total_shed: int
    tuples: int


@dataclass(frozen=True)
class WidthLine:
    """A column of a view that is estimated: half of its interval, as a part of the value, in the
    mean over the rows that are shown."""

    column: str
    width: float
    rows: int


@dataclass(frozen=True)
class Shedding:
    """What is shed. `delays` are seconds from data to results, by batch."""

    is_shedding: bool
    inputs: tuple[KeptLine, ...] = ()
    delays: tuple[float | None, ...] = ()
    expected_delay: float | None = None
    wanted_delay: float | None = None
    results: float | None = None
    """Results for a second of event time; `expected_results` is behind the drop boxes."""

    expected_results: float | None = None
    widths: tuple[WidthLine, ...] = ()
    charts: tuple[Chart, ...] = ()


def shedding_view(log: LogView) -> Shedding:
    """The view of a log, and of the rows that a view shows."""
    last, recent = log.last, log.reports[-HISTORY:]
    if last is None:
        return Shedding(False)
    wanted = last.prediction
    return Shedding(
        is_shedding=any(each.keep < 1.0 for each in last.inputs.values()),
        inputs=tuple(_input(alias, recent) for alias in last.inputs),
        delays=tuple(each.delay for each in recent),
        expected_delay=None if wanted is None else wanted.delay,
        wanted_delay=wanted_delay(log.head),
        results=last.results / last.span if last.span else None,
        expected_results=None if wanted is None else wanted.output_rate,
        widths=tuple(interval_widths(results_view(log))),
        charts=(kept_chart(log.recent), delay_chart(log.recent)),
    )


def interval_widths(shown: Results) -> list[WidthLine]:
    """The widths of the columns that have ends of intervals beside them."""
    places = {name: place for place, name in enumerate(shown.columns)}
    found = []
    for name, place in places.items():
        ends = [places.get(f"{name}_{end}") for end in ENDS]
        known = [_width(row, place, ends) for row in shown.rows]
        widths = [width for width in known if width is not None]
        if widths:
            found.append(WidthLine(name, sum(widths) / len(widths), len(widths)))
    return found


def _width(row: Sequence[object], place: int, ends: Sequence[int | None]) -> float | None:
    values = [row[place], *(None if end is None else row[end] for end in ends)]
    match values:
        case [int() | float() as value, int() | float() as low, int() | float() as high] if value:
            return (high - low) / 2.0 / abs(value)
    return None


def _input(alias: str, recent: Sequence[Report]) -> KeptLine:
    last, held = recent[-1], [each.inputs.get(alias) for each in recent]
    mine = last.inputs[alias]
    return KeptLine(
        alias=alias,
        keep=mine.keep,
        keeps=tuple(None if each is None else each.keep for each in held),
        shed=mine.shed,
        total_shed=last.total_shed.get(alias, 0),
        tuples=mine.tuples,
    )
