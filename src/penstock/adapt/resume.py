"""What an earlier run on a checkpoint has measured, for the one that goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from penstock.adapt.figures.overlay import given_of
from penstock.adapt.training.training_log import load_training
from penstock.engine.places.place import Place
from penstock.engine.reports.reading import read_reports
from penstock.engine.state.store import Store
from penstock.errors import PenstockError
from penstock.figure import Figure
from penstock.query import Query
from penstock.stats.guess import complete
from penstock.stats.known import Known
from penstock.stats.statistics import GivenCondition, Statistics, StreamFigures

_LATEST = 64
"""Reports among which there is one with figures: every fourth has them."""


def with_measured(known: Known, checkpoint: str) -> Known:
    """What is known, with what the last run on a checkpoint measured over it."""
    training = load_training(Store(Place.of(checkpoint)), known.query)
    if training:
        known = replace(known, training={**known.training, **training})
    return _with(known, measured_at(checkpoint, known.query))


def with_measured_member(known: Known, told: Mapping[str, Any] | None) -> Known:
    """What is known of a query of a script, with the tables over it that the last run told."""
    return known if not told else _with(known, _statistics(told, known.query))


def measured_members(checkpoint: str) -> dict[str, Mapping[str, Any]]:
    """The tables of figures that the queries of a script have told last, by name."""
    try:
        reports = list(read_reports(checkpoint, _LATEST))
    except (PenstockError, OSError):
        return {}
    return {
        name: each.stats
        for report in reports
        for name, each in report.members.items()
        if each.stats
    }


def _with(known: Known, measured: Statistics | None) -> Known:
    if measured is None:
        return known
    return replace(
        complete(known.query, over(given_of(known), measured), known.costs), notes=known.notes
    )


def measured_at(checkpoint: str, query: Query) -> Statistics | None:
    """The figures in the log of a checkpoint; None if there are none that can be read."""
    try:
        told = [report.stats for report in read_reports(checkpoint, _LATEST) if report.stats]
    except (PenstockError, OSError):
        return None
    return _statistics(told[-1], query) if told else None


def _statistics(told: Mapping[str, Any], query: Query) -> Statistics | None:
    """The figures of tables; None if they are not those of the query."""
    from penstock.stats.files.load import from_data  # Only who goes on has tables to read.

    try:
        return from_data(_tables(told), query, "the report log")
    except PenstockError:
        return None


def over(given: Statistics, measured: Statistics) -> Statistics:
    """The given statistics, with those figures that were measured instead of them."""
    streams = dict(given.streams)
    for alias, each in measured.streams.items():
        streams[alias] = _stream(given.stream(alias), each)
    conditions = dict(given.conditions)
    for text, condition in measured.conditions.items():
        conditions[text] = _condition(given.conditions.get(text, GivenCondition()), condition)
    groups = {group: f for group, f in measured.groups.items() if f.origin == "measured"}
    return replace(
        given, streams=streams, conditions=conditions, groups=dict(given.groups) | groups
    )


def _stream(given: StreamFigures, measured: StreamFigures) -> StreamFigures:
    distinct = {name: f for name, f in measured.distinct.items() if f.origin == "measured"}
    return StreamFigures(
        _better(given.rate, measured.rate),
        _better(given.cardinality, measured.cardinality),
        dict(given.distinct) | distinct,
        given.cells,
        given.costs,
        _better(given.variation, measured.variation),
        given.unique,
    )


def _condition(given: GivenCondition, measured: GivenCondition) -> GivenCondition:
    return GivenCondition(
        _better(given.selectivity, measured.selectivity), _better(given.cost, measured.cost)
    )


def _better(given: Figure | None, measured: Figure | None) -> Figure | None:
    return measured if measured is not None and measured.origin == "measured" else given


def _tables(stats: Mapping[str, object]) -> dict[str, Any]:
    return {name: stats[name] for name in ("streams", "joins", "filters") if name in stats}
