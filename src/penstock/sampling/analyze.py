"""Statistics of a query from samples of its sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import inf

import numpy as np
import pyarrow as pa

from penstock.duration import MICROS
from penstock.engine.expressions.evaluate import evaluate
from penstock.engine.rows.codes import group_codes, ordered_codes
from penstock.engine.rows.columns import TS, plain_name
from penstock.figure import Figure
from penstock.plan.aggregation_sets import set_columns
from penstock.query import Column, Query
from penstock.query.expression import columns_of
from penstock.query.keys import key_classes
from penstock.query.query import Input
from penstock.query.window import RowsWindow, TimeWindow, Window
from penstock.sampling.estimate import Int64s, estimate_distinct, estimate_rate
from penstock.sampling.handling import handling_costs
from penstock.sampling.key_selectivity import key_agreements
from penstock.sampling.notes import notes_on
from penstock.sampling.sample import Progress, Sample, take_samples
from penstock.sampling.together import together
from penstock.sampling.training import train
from penstock.sampling.trial import Failed, try_filters, try_theta
from penstock.sampling.turnover import turned_over
from penstock.sampling.unique import unique_keys
from penstock.stats.statistics import (
    GivenCondition,
    Statistics,
    StreamFigures,
    extra_equalities,
)

Rows = Mapping[str, pa.Table]

# Half of the time is for trying out conditions, a quarter for what they make of training tuples.
_TRYING, _TRAINING = 0.5, 0.25


def analyze(
    query: Query, rows: int = 100_000, seconds: float = 10.0, progress: Progress | None = None
) -> Statistics:
    """Statistics from samples of up to so many tuples a source, from all of it.

    Conditions are tried on as many of them as should take so many seconds, by the costs that their
    functions are declared with: the same data gives the same statistics, but for measured costs.
    `progress` is called with a source's name and how many of its tuples have been read.
    """
    samples = take_samples(query, rows, progress or (lambda name, count: None))
    shares = _apart(query, samples)
    failures: list[str] = []
    budget = seconds * _TRYING / (len(query.filters) + len(query.thetas) + 1)
    passing, conditions = _filtered(query, shares, budget, failures.append)
    found = together(query, samples, passing)
    joining = {alias: each for alias, each in found.rows.items() if len(each)}
    thetas = _thetas(query, joining, budget, failures.append)
    known = Statistics(
        query,
        streams={
            item.alias: _stream_figures(query, item, samples, passing) for item in query.inputs
        },
        groups=dict(key_agreements(query, joining, found.episodes)),
        conditions=conditions | thetas,
        handling=dict(handling_costs(query, joining, budget, failures.append)),
        notes=(*notes_on(query, samples, passing, rows), *failures),
    )
    known = turned_over(known, found.episodes.count)
    training, untrained = train(
        known, shares, joining, seconds * _TRAINING, episodes=found.episodes
    )
    return replace(known, training=training, untrained=untrained)


def _apart(query: Query, samples: Mapping[str, Sample]) -> dict[str, pa.Table]:
    """Each input's own tuples: the inputs of one source share them out, to be independent."""
    shares = {}
    for name, sample in samples.items():
        aliases = [item.alias for item in query.reading(name)]
        for place, alias in enumerate(aliases):
            every = np.arange(place, len(sample.rows), len(aliases))
            shares[alias] = sample.rows if len(aliases) == 1 else sample.rows.take(pa.array(every))
    return shares


def _filtered(
    query: Query, shares: Rows, budget: float, failed: Failed
) -> tuple[dict[str, pa.Table], dict[str, GivenCondition]]:
    passing: dict[str, pa.Table] = {}
    figures: dict[str, GivenCondition] = {}
    for alias, rows in shares.items():
        passing[alias], own = try_filters(rows, query.filters_of(alias), budget, failed)
        figures |= own
    return passing, figures


def _stream_figures(
    query: Query, item: Input, samples: Mapping[str, Sample], passing: Rows
) -> StreamFigures:
    sample = samples.get(item.source.name)
    if sample is None:
        declared = item.source.rate
        return StreamFigures(None if declared is None else Figure(declared, "declared"))
    rate = None if item.is_table else _rate(sample)
    alive = _alive(item.window, rate)
    distinct = {c.name: _distinct(c, sample, alive) for c in _told_apart(query, item.alias)}
    known = {name: figure for name, figure in distinct.items() if figure is not None}
    cells = _cells(query, item.alias, sample, passing[item.alias], alive)
    unique = unique_keys(query, item.alias, sample)
    if item.is_table:
        error = 0.0 if sample.is_whole else None
        count = Figure(float(sample.count), "sampled", error)
        return StreamFigures(None, count, known, cells, unique=unique)
    return StreamFigures(rate, None, known, cells, unique=unique)


def _rate(sample: Sample) -> Figure | None:
    """Tuples/s by the times within strips: how long it takes from one to the next says nothing."""
    times = sample.rows.column(TS).to_numpy()
    ends = np.cumsum([span.count for span in sample.spans])
    return estimate_rate(np.split(times, ends[:-1]))


def _alive(window: Window | None, rate: Figure | None) -> float:
    """Tuples that a window holds; as many as there may be where that is not known."""
    match window:
        case RowsWindow(count=count, partition_by=()):
            return float(count)
        case TimeWindow(extent=int() as extent, slide=slide) if rate is not None:
            return rate.value * (extent + slide) / MICROS
    return inf


def _told_apart(query: Query, alias: str) -> Iterator[Column]:
    """The columns of which the number of values matters: keys, and what sets of views are by."""
    for key in key_classes(query):
        if alias in key.streams:
            yield from (part for part in key.parts(alias) if isinstance(part, Column))
    if query.view is not None:
        for part in set_columns(query, alias):
            yield from sorted(columns_of(part), key=lambda column: column.name)


def _distinct(column: Column, sample: Sample, alive: float) -> Figure | None:
    values = evaluate(column, sample.rows, plain_name).drop_null()
    return _estimated(ordered_codes([values])[0], sample, len(sample.rows), alive)


def _estimated(codes: Int64s, sample: Sample, rows: int, alive: float) -> Figure | None:
    """The different values behind those in so many rows of a sample."""
    is_counted = sample.source.is_table and sample.is_whole
    most = float(sample.count) if is_counted else inf
    is_whole = is_counted and sample.count == rows
    return estimate_distinct(codes, is_whole=is_whole, rows=most, alive=alive)


def _cells(query: Query, alias: str, sample: Sample, rows: pa.Table, alive: float) -> Figure | None:
    """The different rows of an aggregation set: columns may depend on each other, as items do on
    their kinds, so that they are counted together."""
    parts = set_columns(query, alias)
    if query.view is None or not parts:
        return None
    values = [evaluate(part, rows, plain_name) for part in parts]
    codes = group_codes(values, len(rows))
    return _estimated(codes, sample, len(rows), alive)


def _thetas(query: Query, rows: Rows, budget: float, failed: Failed) -> dict[str, GivenCondition]:
    conditions = {str(theta): theta for theta in query.thetas} | dict(extra_equalities(query))
    known = {t: c for t, c in conditions.items() if c.streams <= set(rows)}
    return {text: try_theta(rows, each, budget, failed) for text, each in known.items()}
