"""What is known of the results of a query before it runs: the figures of those that read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from penstock.figure import Figure
from penstock.query import Column, Expression, Query
from penstock.query.query import Input
from penstock.query.view import CHANGE
from penstock.stats.known import Known
from penstock.stats.statistics import GivenCondition, Statistics

Counts = Mapping[str, Figure]


@dataclass(frozen=True)
class Expected:
    """Results/s that a query is expected to give, and different values of its columns."""

    rate: Figure
    distinct: Counts


def expected_of(name: str, known: Known, rate: float, is_guess: bool) -> Expected:
    """What a query of that name gives, if its plan gives so many results a second."""
    rule = f"as {name} is expected to give"
    return Expected(_figure(rate, is_guess, rule), _distinct(known, rule))


def together(parts: list[Expected]) -> Expected:
    """What several queries give that make one stream."""
    if len(parts) == 1:
        return parts[0]
    is_guess = any(part.rate.is_guess for part in parts)
    rate = sum(part.rate.value for part in parts)
    return Expected(_figure(rate, is_guess, "as its parts are expected to give"), {})


def with_derived(given: Statistics, expected: Mapping[str, Expected]) -> Statistics:
    """The figures of a query, with those that follow for its inputs from who makes them, by
    alias; what is given counts more."""
    streams = dict(given.streams)
    for alias, each in expected.items():
        own = given.stream(alias)
        distinct = {**each.distinct, **own.distinct}
        streams[alias] = replace(own, rate=own.rate or each.rate, distinct=distinct)
    conditions = {**_presence(given.query), **given.conditions}
    return replace(given, streams=streams, conditions=conditions)


def is_presence(item: Input, text: str) -> bool:
    """Whether a condition is the one by which rows of a view are there, which nobody wrote."""
    return item.is_relation and text == f"{item.alias}.{CHANGE} = 'upsert'"


def _presence(query: Query) -> dict[str, GivenCondition]:
    """Of views as they are, rows that have gone are few beside those that are there."""
    there = GivenCondition(Figure(1.0, "derived", rule="rows that are there"), None)
    conditions = [(item, str(c)) for item in query.inputs for c in query.filters_of(item.alias)]
    return {text: there for item, text in conditions if is_presence(item, text)}


def _figure(value: float, is_guess: bool, rule: str) -> Figure:
    return Figure(value, "guessed" if is_guess else "derived", rule=rule)


def _distinct(known: Known, rule: str) -> dict[str, Figure]:
    """The different values of outputs that are columns of inputs, as far as those are known."""
    found = {}
    for name, expression in _outputs(known.query):
        if isinstance(expression, Column) and not expression.path:
            figure = known.distinct.get(expression.stream, {}).get(expression.name)
            if figure is not None:
                found[name] = _figure(figure.value, figure.is_guess, rule)
    return found


def _outputs(query: Query) -> list[tuple[str, Expression]]:
    """The columns of the results; of a view, those that are groups."""
    if query.view is None:
        return [(output.name, output.expression) for output in query.outputs]
    joined = {output.name: output.expression for output in query.outputs}
    groups = {group: joined[group.name] for group in query.view.groups}
    pairs = [(output.name, output.expression) for output in query.view.outputs]
    return [(name, groups[of]) for name, of in pairs if isinstance(of, Column) and of in groups]
