"""Aggregation sets: what the tuples of an input are grouped by when it is aggregated early."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.query import Column, Expression, Query, View
from penstock.query.expression import columns_of, streams_of


def set_columns(query: Query, alias: str) -> tuple[Expression, ...]:
    """The expressions in which rows of an input's aggregation set differ, besides their ticks.

    These are its join keys, its columns in predicates over several inputs, groups (its columns in
    them, where they read several inputs) and its columns in arguments that read several inputs, or
    of which each value must be known (T&L Rules 1 and 2, mended for m-way joins).
    """
    return tuple(dict.fromkeys(_set_columns(query, alias)))


def _set_columns(query: Query, alias: str) -> Iterator[Expression]:
    for equality in query.equalities:
        yield from (e for e in (equality.left, equality.right) if streams_of(e) == {alias})
    for theta in query.thetas:
        yield from _columns(theta.expression, alias)
    if query.view is not None:
        yield from _view_columns(query, query.view, alias)


def _view_columns(query: Query, view: View, alias: str) -> Iterator[Expression]:
    joined = {output.name: output.expression for output in query.outputs}
    for group in view.groups:
        is_own = streams_of(joined[group.name]) == {alias}
        yield from [joined[group.name]] if is_own else _columns(joined[group.name], alias)
    for aggregate in view.aggregates:
        argument = None if aggregate.argument is None else joined[aggregate.argument.name]
        if argument is None or aggregate.argument is None:
            continue
        if len(streams_of(argument)) > 1 or view.keeps_values(aggregate.argument.name):
            yield from _columns(argument, alias)


def _columns(expression: Expression, alias: str) -> list[Column]:
    """One input's columns in an expression, always in the same order."""
    return sorted((c for c in columns_of(expression) if c.stream == alias), key=lambda c: c.name)
