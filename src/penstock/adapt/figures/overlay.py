"""Given statistics, with what was measured laid over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from penstock.adapt.figures.measured import Measured
from penstock.adapt.figures.subject import Cost, Distinct, Equal, Passing, Rate, Size, Subject
from penstock.adapt.settings import Settings
from penstock.figure import Figure
from penstock.query import Column
from penstock.query.keys import key_classes
from penstock.stats.known import Known
from penstock.stats.statistics import GivenCondition, Group, Statistics, StreamFigures

UNKNOWN = Figure(0.0, "guessed", rule="unknown")
"""A figure that nobody has guessed: whatever is measured counts."""


def given_of(known: Known) -> Statistics:
    """The statistics that were given, without what was guessed beside them."""
    query = known.query
    streams = {
        alias: StreamFigures(
            _given(known.rates.get(alias)),
            _given(known.cardinalities.get(alias)),
            known.distinct.get(alias, {}),
            known.cells.get(alias),
            known.windows.get(alias),
            known.variations.get(alias),
            known.unique.get(alias, {}),
        )
        for alias in query.aliases
    }
    groups = {
        Group(k, tuple(range(len(key.types))), members): figure
        for k, key in enumerate(key_classes(query))
        for members, figure in known.groups[k].items()
        if not figure.is_guess
    }
    conditions = {
        text: GivenCondition(_given(each.selectivity), _given(each.cost))
        for text, each in known.conditions.items()
    }
    return Statistics(
        query,
        streams=streams,
        groups=groups,
        handling=known.handling,
        conditions=conditions,
        costs=None if known.costs.origin == "guessed" else known.costs,
        capacity=_given(known.capacity),
        rows_warmup=known.rows_warmup,
        horizon=known.horizon,
        memory=known.memory,
        training=known.training,
        untrained=known.untrained,
    )


def overlaid(
    given: Statistics, known: Known, measured: Mapping[Subject, Measured], settings: Settings
) -> Statistics:
    """The given statistics with all that was measured well enough, or that contradicts `known`."""
    streams, groups = dict(given.streams), dict(given.groups)
    conditions = dict(given.conditions)
    for subject, each in measured.items():
        figure = each.over(figure_in(known, subject), settings)
        if figure is None:
            continue
        match subject:
            case Rate(alias):
                streams[alias] = replace(streams.get(alias, StreamFigures()), rate=figure)
            case Passing(text):
                passing = replace(figure, value=min(1.0, figure.value))
                conditions[text] = replace(_condition(conditions, text), selectivity=passing)
            case Cost(text):
                conditions[text] = replace(_condition(conditions, text), cost=figure)
            case Equal(group):
                groups[group] = replace(figure, value=min(1.0, figure.value))
            case Size(alias):
                streams[alias] = replace(streams.get(alias, StreamFigures()), cardinality=figure)
            case Distinct(alias, column):
                stream = streams.get(alias, StreamFigures())
                values = {**stream.distinct, column: figure}
                streams[alias] = replace(stream, distinct=values)
    return replace(given, streams=streams, groups=groups, conditions=conditions)


def with_variations(given: Statistics, measured: Mapping[str, Figure]) -> Statistics:
    """The statistics with how much rates were measured to vary."""
    streams = dict(given.streams)
    for alias, figure in measured.items():
        streams[alias] = replace(streams.get(alias, StreamFigures()), variation=figure)
    return replace(given, streams=streams)


def without_repeated(given: Statistics, repeated: Iterable[tuple[str, int]]) -> Statistics:
    """The statistics without keys of streams that were taken to be unique, and came twice;
    `repeated` are inputs and key classes."""
    query, streams = given.query, dict(given.streams)
    classes = key_classes(query)
    for alias, k in repeated:
        columns = {part.name for part in classes[k].parts(alias) if isinstance(part, Column)}
        for item in query.reading(query.input(alias).source.name):
            own = streams.get(item.alias, StreamFigures())
            kept = {key: who for key, who in own.unique.items() if not columns.issuperset(key)}
            streams[item.alias] = replace(own, unique=kept)
    return replace(given, streams=streams)


def figure_in(known: Known, subject: Subject) -> Figure:
    """The figure of a subject that is planned with."""
    match subject:
        case Rate(alias):
            return known.rates[alias]
        case Passing(text):
            return known.conditions[text].selectivity
        case Cost(text):
            return known.conditions[text].cost
        case Equal(group):
            return known.groups[group.key][group.streams]
        case Size(alias):
            return known.cardinalities[alias]
        case Distinct(alias, column):
            return known.distinct.get(alias, {}).get(column, UNKNOWN)


def _condition(conditions: Mapping[str, GivenCondition], text: str) -> GivenCondition:
    return conditions.get(text, GivenCondition())


def _given(figure: Figure | None) -> Figure | None:
    return None if figure is None or figure.is_guess else figure
