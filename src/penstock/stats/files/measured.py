"""Statistics of a query that has run: the figures that it measured, as a stats file has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from penstock.figure import Figure
from penstock.query import Query
from penstock.stats.files.load import from_data
from penstock.stats.statistics import Statistics, StreamFigures


def measured_statistics(
    query: Query, tables: Mapping[str, Any], batch: int, name: str
) -> Statistics:
    """The statistics in the tables of a report; `name` is how messages call them."""
    note = f"Measured by a run of penstock, up to batch {batch:,}; error is the standard error."
    return replace(from_data(tables, query, name), notes=(note,))


def measured_rates(query: Query, rates: Mapping[str, tuple[int, float]], batch: int) -> Statistics:
    """Rates alone, by stream, from tuples and the seconds of event time that they are of."""
    streams = {
        item.alias: StreamFigures(_rate(*rates[item.source.name]))
        for item in query.streams
        if item.source.name in rates
    }
    notes = (
        f"Measured by a run of penstock, up to batch {batch:,}: rates alone.",
        "Late and malformed rows are not counted.",
    )
    return Statistics(query, streams=streams, notes=notes)


def _rate(tuples: int, seconds: float) -> Figure:
    """Arrivals are taken as independent, so that n of them are known to √n."""
    return Figure(
        float(f"{tuples / seconds:.6g}"), "measured", float(f"{tuples**0.5 / seconds:.2g}")
    )
