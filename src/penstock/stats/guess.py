"""Guesses by named rules for all that is not given, so that a planner finds nothing missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import geometric_mean

from penstock.duration import MICROS
from penstock.figure import Figure, Origin
from penstock.query import Column, Condition, Expression, Query
from penstock.query.expression import columns_of
from penstock.query.keys import key_classes
from penstock.query.made.nexmark import rows_of
from penstock.query.query import Input
from penstock.stats.costs import GUESSED_FOLD, GUESSED_TALLY, Costs
from penstock.stats.forms import guess_cost, guess_selectivity
from penstock.stats.groups import group_figures
from penstock.stats.known import ConditionFigures, Known
from penstock.stats.statistics import GivenCondition, Statistics, StreamFigures, extra_equalities

# A stream worth planning for; only the ratios of rates choose a plan where nothing is overloaded.
DEFAULT_RATE = 1_000.0
# A small dimension table.
DEFAULT_TABLE = 1_000.0
DEFAULT_WARMUP = 60.0

# Rounded from a machine of 2025: one core joins about a million tuples a second.
DEFAULT_COSTS = Costs(
    "guessed",
    insert=2e-7,
    probe=3e-7,
    expire=1e-7,
    move=1e-7,
    hash=5e-8,
    compare=1e-8,
    fold=GUESSED_FOLD,
    tally=GUESSED_TALLY,
)


def complete(
    query: Query, statistics: Statistics | None = None, calibrated: Costs | None = None
) -> Known:
    """The statistics with nothing missing; `calibrated` counts where no costs are given."""
    given = _shared(query, statistics or Statistics(query))
    cardinalities = _cardinalities(query, given)
    return Known(
        query,
        rates=_rates(query, given),
        cardinalities=cardinalities,
        groups=_groups(query, given, cardinalities),
        conditions=_conditions(query, given),
        costs=given.costs or calibrated or DEFAULT_COSTS,
        capacity=given.capacity or Figure(1.0, "guessed", rule="one core"),
        rows_warmup=DEFAULT_WARMUP if given.rows_warmup is None else given.rows_warmup,
        horizon=given.horizon,
        memory=given.memory,
        distinct={alias: figures.distinct for alias, figures in given.streams.items()},
        unique={alias: each.unique for alias, each in given.streams.items() if each.unique},
        training=given.training,
        untrained=given.untrained,
        handling=given.handling,
        cells={alias: each.cells for alias, each in given.streams.items() if each.cells},
        windows={alias: each.costs for alias, each in given.streams.items() if each.costs},
        variations={a: each.variation for a, each in given.streams.items() if each.variation},
    )


def _shared(query: Query, statistics: Statistics) -> Statistics:
    """The same, with what is given of one input given to all inputs of its stream."""
    streams = {}
    for item in query.inputs:
        same = [i.alias for i in query.reading(item.source.name)]
        figures = [statistics.stream(alias) for alias in (item.alias, *same)]
        distinct: dict[str, Figure] = {}
        unique: dict[tuple[str, ...], Origin] = {}
        for each in reversed(figures):
            distinct |= each.distinct
            unique |= each.unique
        streams[item.alias] = StreamFigures(
            next((f.rate for f in figures if f.rate), None),
            next((f.cardinality for f in figures if f.cardinality), None),
            distinct,
            # The inputs of one stream are grouped by different columns.
            figures[0].cells,
            figures[0].costs,
            next((f.variation for f in figures if f.variation), None),
            unique,
        )
    return replace(statistics, streams=streams)


def _rates(query: Query, given: Statistics) -> dict[str, Figure]:
    rates = {}
    for item in query.streams:
        declared = item.source.rate
        option = None if declared is None else Figure(declared, "declared")
        rates[item.alias] = given.stream(item.alias).rate or option
    # A query that others read may be expected to give nothing.
    known = [rate.value for rate in rates.values() if rate is not None and rate.value > 0.0]
    return {alias: rate or _guess_rate(known) for alias, rate in rates.items()}


def _guess_rate(known: list[float]) -> Figure:
    if not known:
        return Figure(DEFAULT_RATE, "guessed", rule=f"{DEFAULT_RATE:,.0f} tuples/s")
    return Figure(geometric_mean(known), "guessed", rule="geometric mean of the other streams")


def _cardinalities(query: Query, given: Statistics) -> dict[str, Figure]:
    known = {i.alias: given.stream(i.alias).cardinality or _declared_end(i) for i in query.inputs}
    guess = Figure(DEFAULT_TABLE, "guessed", rule=f"{DEFAULT_TABLE:,.0f} rows")
    tables = {item.alias: guess for item in query.inputs if item.is_table}
    return tables | {alias: figure for alias, figure in known.items() if figure is not None}


def _declared_end(item: Input) -> Figure | None:
    """The tuples of a made-up stream that ends."""
    rows, duration = item.source.option("rows"), item.source.option("duration")
    if item.source.format == "nexmark":
        rows = rows_of(item.source)
    if rows is not None:
        return Figure(float(rows), "declared")
    is_even = item.source.option("shape") is None
    if duration is not None and item.source.rate is not None and is_even:
        return Figure(item.source.rate * float(duration) / MICROS, "declared")
    return None


def _groups(
    query: Query, given: Statistics, cardinalities: Mapping[str, Figure]
) -> tuple[Mapping[frozenset[str], Figure], ...]:
    tables = {item.alias for item in query.inputs if item.is_table}

    def distinct(alias: str, side: Expression) -> float | None:
        """Of a column, or of what is computed from one; a table's key is taken to be unique."""
        columns = columns_of(side)
        known = _distinct(given, *columns) if len(columns) == 1 else None
        if known is None and alias in tables:
            return max(1.0, cardinalities[alias].value)
        return known

    classes = enumerate(key_classes(query))
    return tuple(group_figures(k, key, given.groups, distinct) for k, key in classes)


def _distinct(given: Statistics, column: Column) -> float | None:
    figure = given.stream(column.stream).distinct.get(column.name)
    return None if figure is None else figure.value


def _conditions(query: Query, given: Statistics) -> dict[str, ConditionFigures]:
    own = {str(condition): condition for condition in (*query.filters, *query.thetas)}
    conditions = own | dict(extra_equalities(query))
    return {text: _condition(given, text, each) for text, each in conditions.items()}


def _condition(given: Statistics, text: str, condition: Condition) -> ConditionFigures:
    known = given.conditions.get(text, GivenCondition())
    expression = condition.expression
    return ConditionFigures(
        known.selectivity or guess_selectivity(expression, lambda c: _distinct(given, c)),
        known.cost or guess_cost(expression),
    )
