"""The truth about a regime: the figures that a perfect stats file would have."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from penstock.bench.drift.streams.keys import equal_fraction
from penstock.bench.drift.streams.scenario import Regime, Scenario
from penstock.figure import Figure
from penstock.query import Column, Query
from penstock.query.keys import KeyClass, key_classes
from penstock.stats.costs import Costs
from penstock.stats.guess import complete
from penstock.stats.known import Known
from penstock.stats.statistics import GivenCondition, Group, Statistics, StreamFigures


def known_in(scenario: Scenario, regime: Regime, query: Query, costs: Costs | None) -> Known:
    """All that the planner asks, if the regime lasted for ever."""
    return complete(query, statistics_of(scenario, regime, query), costs)


def statistics_of(scenario: Scenario, regime: Regime, query: Query) -> Statistics:
    """Rates of all streams, the fraction of equal keys of every set of them, and what predicates
    let through."""
    streams = {name: StreamFigures(Figure(flow.rate, "declared")) for name, flow in regime.items()}
    groups = {
        group: figure
        for number, key in enumerate(key_classes(query))
        for group, figure in _groups(number, key, regime)
    }
    conditions = {
        text: GivenCondition(Figure(part, "declared")) for text, part in scenario.predicates.items()
    }
    return Statistics(query, streams, groups, conditions)


def _groups(number: int, key: KeyClass, regime: Regime) -> Iterator[tuple[Group, Figure]]:
    columns = {}
    for alias, (part,) in key.members:
        assert isinstance(part, Column), "scenarios join on columns"
        columns[alias] = regime[alias].columns[part.name]
    for size in range(2, len(columns) + 1):
        for chosen in combinations(columns, size):
            fraction = equal_fraction([columns[alias] for alias in chosen])
            yield Group(number, (0,), frozenset(chosen)), Figure(fraction, "declared")
