"""Findings: the data, the charts and the claims of one run of an experiment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from penstock.experiments.frame.chart import BarChart, Chart, HeatMap, LineChart, Origin
from penstock.experiments.frame.claim import Claim

Cell = str | float | int | None


@dataclass(frozen=True)
class Table:
    """Rows of figures, as they go to a CSV file; columns carry their units."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Findings:
    """What an experiment found. Without a `table` of its own, its data is that of its charts.

    `notes` say what was left out, and why: data or an engine that is not there.
    """

    charts: tuple[Chart, ...]
    claims: tuple[Claim, ...]
    table: Table | None = None
    notes: tuple[str, ...] = ()

    @property
    def data(self) -> Table:
        """The data as a table."""
        return self.table if self.table is not None else table_of(self.charts)

    @property
    def has_model(self) -> bool:
        """Whether a chart shows what a model foresees."""
        return any("model" in _origins(chart) for chart in self.charts)


def _origins(chart: Chart) -> set[Origin]:
    match chart:
        case LineChart():
            return {line.origin for line in chart.series}
        case BarChart():
            return {bars.origin for bars in chart.bars}
        case HeatMap():
            return {chart.origin}


def table_of(charts: tuple[Chart, ...]) -> Table:
    """All points of charts, one a row."""
    rows = (row for chart in charts for row in _rows(chart))
    return Table(("chart", "series", "origin", "x", "y"), tuple(rows))


def _rows(chart: Chart) -> Iterator[tuple[Cell, ...]]:
    match chart:
        case LineChart():
            for line in chart.series:
                for x, y in zip(line.x, line.y, strict=True):
                    yield chart.title, line.name, line.origin, x, y
        case BarChart():
            for bars in chart.bars:
                for category, value in zip(chart.categories, bars.values, strict=True):
                    yield chart.title, bars.name, bars.origin, category, value
        case HeatMap():
            for y, values in zip(chart.rows, chart.cells, strict=True):
                for x, value in zip(chart.columns, values, strict=True):
                    shown = chart.kinds[int(value)] if chart.kinds else value
                    yield chart.title, shown, chart.origin, x, y
        case _:
            assert_never(chart)
