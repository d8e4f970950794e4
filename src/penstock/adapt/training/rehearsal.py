"""The rehearsal: conditions tried on a kept sample, so many tuples and not so many seconds."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

import pyarrow as pa

from penstock.adapt.settings import Settings
from penstock.engine.routes.screening import declared_seconds
from penstock.query import Query
from penstock.sampling.training import SAMPLE, train
from penstock.sampling.trial import try_filters
from penstock.stats.statistics import Statistics
from penstock.stats.training import Training

Rows = Mapping[str, pa.Table]


def trained_by(
    statistics: Statistics, shares: Rows, settings: Settings
) -> tuple[Mapping[str, Training], Mapping[str, str]]:
    """Training by sampled tuples of the inputs, and why streams have none."""
    query = statistics.query
    size = rehearsed(query, settings)
    return train(statistics, shares, _passing(query, shares, size), inf, size)


def rehearsed(query: Query, settings: Settings) -> int:
    """How many tuples of each stream the filters are tried on, by what functions say they take.

    Measured seconds would make training, and so plans, differ from run to run.
    """
    seconds = sum(declared_seconds(condition) for condition in query.filters)
    affordable = int(settings.training_seconds / seconds) if seconds else SAMPLE
    return max(settings.training_fewest, min(SAMPLE, affordable))


def _passing(query: Query, shares: Rows, size: int) -> Rows:
    """The tuples that pass the filters: they are what others find. One input alone finds none.

    Where filters are dear only the latest tuples are tried.
    """
    if len(query.inputs) == 1:
        return {}
    passing = {}
    for alias, rows in shares.items():
        filters = query.filters_of(alias)
        is_dear = size < SAMPLE and filters
        tried = rows.slice(max(0, len(rows) - size)) if is_dear else rows
        passing[alias], _ = try_filters(tried, filters, inf, lambda failure: None)
    return {alias: rows for alias, rows in passing.items() if len(rows)}
