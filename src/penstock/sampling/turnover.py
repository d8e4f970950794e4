"""Values that come after a sample: in long windows the keys of what unique ones meet are others."""

from __future__ import annotations

from dataclasses import replace

from penstock.figure import Figure
from penstock.optimize.model.flow import equal_figures
from penstock.query import Column
from penstock.query.keys import key_classes
from penstock.sampling.estimate import sampled
from penstock.stats.guess import complete
from penstock.stats.known import Known
from penstock.stats.statistics import Statistics, StreamFigures


def turned_over(given: Statistics, episodes: int) -> Statistics:
    """The statistics with as many values of keys, and rows of aggregation sets, as full windows
    have; the sample is of so many episodes.

    Where a tuple has one partner by a unique key, and would have *n* by what was sampled, the keys
    of the window are those of *n* episodes.
    """
    known = complete(given.query, given)
    streams = {
        alias: _grown(figures, _times(known, alias), episodes)
        for alias, figures in given.streams.items()
    }
    return replace(given, streams=streams)


def _times(known: Known, alias: str) -> dict[str, float]:
    """By key column: the partners that tuples of an input were expected to have, or the other way
    round, where there is one."""
    found: dict[str, float] = {}
    for number, key in enumerate(key_classes(known.query)):
        given, limited = known.groups[number], equal_figures(known, number)
        pairs = [pair for pair in given if alias in pair and len(pair) == 2]
        lowered = [pair for pair in pairs if limited[pair].value < given[pair].value]
        if lowered:
            most = max(given[pair].value / limited[pair].value for pair in lowered)
            columns = [part.name for part in key.parts(alias) if isinstance(part, Column)]
            found |= dict.fromkeys(columns, most)
    return found


def _grown(figures: StreamFigures, times: dict[str, float], episodes: int) -> StreamFigures:
    """The figures with the values of so many times as many episodes, by column."""
    most = max(times.values(), default=0.0) / episodes
    distinct = {
        name: _more(figure, times.get(name, 0.0) / episodes)
        for name, figure in figures.distinct.items()
    }
    cells = None if figures.cells is None else _more(figures.cells, most)
    return replace(figures, distinct=distinct, cells=cells)


def _more(figure: Figure, times: float) -> Figure:
    if times <= 1.0:
        return figure
    return sampled(figure.value * times, (figure.error or 0.0) * times)
