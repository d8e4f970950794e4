"""Statistics as the tables of a stats file, for the report log and `penstock analyze --from`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from penstock.figure import Figure, Origin
from penstock.stats.statistics import GivenCondition, Group, Statistics, StreamFigures

Tables = dict[str, Any]


def tables_of(statistics: Statistics, name: Callable[[Group], str]) -> Tables:
    """The tables that `penstock.stats.files.load.from_data` reads back, without training; `name` is
    a group as a predicate."""
    filters = {str(condition) for condition in statistics.query.filters}
    conditions = {text: _condition(each) for text, each in statistics.conditions.items()}
    groups, handling = statistics.groups, statistics.handling
    joins = {
        name(group): _condition(GivenCondition(groups.get(group), handling.get(group)))
        for group in dict.fromkeys((*groups, *handling))
    }
    joins |= {text: table for text, table in conditions.items() if text not in filters and table}
    tables = {
        "streams": {alias: _stream(each) for alias, each in statistics.streams.items()},
        "joins": joins,
        "filters": {text: t for text, t in conditions.items() if text in filters and t},
    }
    tables["streams"] = {alias: table for alias, table in tables["streams"].items() if table}
    return {name: table for name, table in tables.items() if table} | _settings(statistics)


def _settings(statistics: Statistics) -> Tables:
    found: Tables = {}
    if statistics.capacity is not None:
        found["capacity"] = _figure(statistics.capacity)
    if statistics.horizon is not None:
        found["horizon"] = statistics.horizon
    if statistics.costs is not None:
        costs = asdict(statistics.costs)
        found["costs"] = {name: cost for name, cost in costs.items() if cost is not None}
        if statistics.costs.join is not None:
            found["costs"] = {"origin": costs["origin"], "join": costs["join"]}
    return found


def _stream(figures: StreamFigures) -> Tables:
    names = ("rate", "cardinality", "cells", "variation")
    given: Mapping[str, Figure | None] = {name: getattr(figures, name) for name in names}
    tables: Tables = {name: _figure(figure) for name, figure in given.items() if figure}
    if figures.distinct:
        tables["distinct"] = {name: _figure(each) for name, each in figures.distinct.items()}
    if figures.unique:
        tables["unique"] = [_key(list(key), who) for key, who in figures.unique.items()]
    if figures.costs is not None:
        tables["costs"] = {name: _figure(each) for name, each in figures.costs.given}
    return tables


def _key(columns: list[str], origin: Origin) -> list[str] | Tables:
    return columns if origin == "declared" else {"value": columns, "origin": origin}


def _condition(given: GivenCondition) -> Tables:
    parts: Mapping[str, Figure | None] = {"selectivity": given.selectivity, "cost": given.cost}
    return {name: _figure(figure) for name, figure in parts.items() if figure}


def _figure(figure: Figure) -> float | Tables:
    if figure.origin == "declared" and figure.error is None:
        return figure.value
    error = {} if figure.error is None else {"error": figure.error}
    return {"value": figure.value, "origin": figure.origin, **error}
