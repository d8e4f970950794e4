"""The intervals of a view that is estimated: two more columns for each aggregate that has one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from penstock.query.expression import Column
from penstock.query.query import Query
from penstock.query.types import DataType
from penstock.query.view import Aggregate, Output, View

ENDS = ("low", "high")


def with_intervals(query: Query) -> Query:
    """The query of a view with `<name>_low` and `<name>_high` behind each COUNT, SUM and AVG.

    Only outputs that are an aggregate and nothing else have them (n → n, n_low, n_high), and only
    if the query has no columns of these names itself.
    """
    view = query.view
    if view is None:
        return query
    outputs = tuple(each for output in view.outputs for each in (output, *_ends(view, output)))
    return replace(query, view=replace(view, outputs=outputs))


def end_name(aggregate: Aggregate, end: str) -> str:
    """The column that a view's outputs read as an end of an aggregate's interval."""
    return f"{aggregate.name} {end}"


def _ends(view: View, output: Output) -> Iterator[Output]:
    names = {end: f"{output.name}_{end}" for end in ENDS}
    taken = {other.name.lower() for other in view.outputs}
    if not taken.isdisjoint(name.lower() for name in names.values()):
        return
    for each in view.aggregates:
        if each.column == output.expression and each.is_estimable:
            for end, name in names.items():
                yield Output(name, Column("", end_name(each, end), DataType.DOUBLE))
