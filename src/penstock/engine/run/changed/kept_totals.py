"""Kept totals of a view, as a query that was changed reads them: the same lanes by other names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.rows.columns import TS, UNTIL
from penstock.engine.rows.lanes import COUNT, Lane
from penstock.engine.rows.value_lanes import lanes_of
from penstock.engine.run.changed.difference import Difference
from penstock.engine.views.interval_table import shown_name
from penstock.query import Query
from penstock.query.expression import render
from penstock.query.view import Aggregate, View


def lacking(difference: Difference, known: Sequence[str]) -> list[str]:
    """The aggregates, as they are written, that need lanes which are not known."""
    view = _view(difference.query)
    return [
        _written(difference, each)
        for each in view.aggregates
        if each.argument is not None
        and any(
            _old_lane(difference, lane) not in known
            for lane in lanes_of(replace(view, aggregates=(each,)), each.argument.name)
        )
    ]


def renamed(difference: Difference, rows: pa.RecordBatch) -> pa.RecordBatch:
    """The rows of an interval table with the lanes that are needed now, by their names of now."""
    view = _view(difference.query)
    names = {group.name: group.name for group in view.groups}
    names |= {name: name for name in (TS, UNTIL, str(COUNT))}
    for argument in view.arguments:
        names |= {str(lane): _old_lane(difference, lane) for lane in lanes_of(view, argument)}
    return pa.RecordBatch.from_pydict({new: rows.column(old) for new, old in names.items()})


def still_shown(query: Query, rows: pa.RecordBatch) -> pa.RecordBatch:
    """What was last shown of each group, without the columns that are not shown any more."""
    view = _view(query)
    types = {shown_name(o.name): arrow_type(o.expression.type) for o in view.outputs}
    groups = {TS, *(group.name for group in view.groups)}
    kept = [f.name for f in rows.schema if f.name in groups or types.get(f.name) == f.type]
    return rows.select(kept)


def _old_lane(difference: Difference, lane: Lane) -> str:
    """The name that a lane had; one that is nowhere if its argument was not aggregated."""
    now = {text.rpartition(" AS ")[2]: text.rpartition(" AS ")[0] for text in _outputs(difference)}
    before = {
        text.rpartition(" AS ")[0]: text.rpartition(" AS ")[2] for text in difference.old["outputs"]
    }
    name = before.get(now[lane.argument])
    return "" if name is None else str(replace(lane, argument=name))


def _outputs(difference: Difference) -> list[str]:
    return list(difference.new["outputs"])


def _written(difference: Difference, each: Aggregate) -> str:
    outputs = {output.name: output.expression for output in difference.query.outputs}
    assert each.argument is not None
    return f"{each.written}({render(outputs[each.argument.name])})"


def _view(query: Query) -> View:
    assert query.view is not None, "only a view has totals"
    return query.view
