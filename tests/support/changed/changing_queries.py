"""Random changes of random queries, such as the state of a checkpoint allows."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from penstock.engine.rows.layout import Layout
from penstock.query import (
    Aggregate,
    Call,
    Column,
    Condition,
    DataType,
    Input,
    Literal,
    Output,
    Query,
    RowsWindow,
    TimeWindow,
    View,
)
from support.streams.cases import BIGINT, BOOLEAN, DOUBLE, STRING, cast_to, compared


def changed(query: Query, rng: Random) -> Query:
    """A query that asks otherwise, of what the state of another has."""
    there = {alias: Layout(query).payload(alias) for alias in query.aliases}
    for change in rng.sample((_outputs, _filters, _thetas, _windows), rng.randint(1, 4)):
        query = change(query, there, rng)
    return query


Columns = dict[str, tuple[Column, ...]]


def _all(there: Columns) -> list[Column]:
    return [column for columns in there.values() for column in columns]


def _outputs(query: Query, there: Columns, rng: Random) -> Query:
    """Fewer outputs, in another order, and some more of the same columns."""
    if query.view is not None:
        return replace(query, view=_view(query.view, rng))
    # Numbers of members tell results apart.
    ids = [o for o in query.outputs if o.name.endswith("_id")]
    others = [o for o in query.outputs if o not in ids and rng.random() < 0.6]
    column = rng.choice(_all(there))
    more = Output("more", Call("is_null", (column,), BOOLEAN))
    chosen = [*ids, *others, more, Output("again", rng.choice(_all(there)))]
    rng.shuffle(chosen)
    return replace(query, outputs=tuple(chosen))


def _view(view: View, rng: Random) -> View:
    """Other outputs of the same groups and aggregates, and another HAVING."""
    outputs = list(view.outputs)
    rng.shuffle(outputs)
    column = rng.choice([output.expression for output in view.outputs])
    outputs.append(Output("missing", Call("is_null", (column,), BOOLEAN)))
    count = next((a.column for a in view.aggregates if a.function == "count"), None)
    having = None
    if count is not None and rng.random() < 0.6:
        having = compared("gt", count, Literal(rng.choice((1, 3)), BIGINT)).expression
    return replace(view, outputs=tuple(outputs), having=having)


def with_other_aggregates(query: Query, rng: Random) -> Query:
    """A view with an aggregate more of a column that its state has, and perhaps one fewer."""
    view, layout = query.view, Layout(query)
    assert view is not None
    numbers = [
        column
        for alias in query.aliases
        for column in layout.payload(alias)
        if column.type in (DOUBLE, BIGINT, DataType.INT)
    ]
    if not numbers:
        return query
    of = cast_to(rng.choice(numbers), DOUBLE)
    known = {output.expression: output.name for output in query.outputs}
    name = known.get(of, "#more")
    asked = Aggregate("#max", "max", Column("", name, DOUBLE))
    summed = Aggregate("#sum", "sum", Column("", name, DOUBLE))
    aggregates = (asked, *view.aggregates, summed)
    outputs = (*view.outputs, Output("most", asked.column), Output("total", summed.column))
    joined = query.outputs if of in known else (Output(name, of), *query.outputs)
    changed = replace(view, aggregates=aggregates, outputs=outputs)
    return replace(query, outputs=joined, view=changed)


def _filters(query: Query, there: Columns, rng: Random) -> Query:
    """One filter more, of a column that is there."""
    column = rng.choice(_all(there)) if _all(there) else None
    if column is None:
        return query
    return replace(query, filters=(*query.filters, _filter(column, rng)))


def _filter(column: Column, rng: Random) -> Condition:
    if column.type is STRING:
        return compared("ne", column, Literal("v1", STRING))
    if column.type in (DOUBLE, BIGINT, DataType.INT) and rng.random() < 0.7:
        return compared("lt", column, cast_to(Literal(2, DataType.INT), column.type))
    return Condition(Call("is_not_null", (column,), BOOLEAN))


def _thetas(query: Query, there: Columns, rng: Random) -> Query:
    """No conditions between inputs but one, of columns that are there."""
    pairs = [
        (one, other)
        for one in _all(there)
        for other in _all(there)
        if one.stream < other.stream and one.type == other.type and one.type in (DOUBLE, BIGINT)
    ]
    kept = tuple(c for c in query.thetas if rng.random() < 0.5)
    more = (compared("le", *rng.choice(pairs)),) if pairs else ()
    return replace(query, thetas=(*kept, *more))


def _windows(query: Query, there: Columns, rng: Random) -> Query:
    return replace(query, inputs=tuple(_shorter(item, rng) for item in query.inputs))


def _shorter(item: Input, rng: Random) -> Input:
    match item.window:
        case TimeWindow(extent=extent, slide=slide) if extent and rng.random() < 0.7:
            return replace(item, window=TimeWindow(extent // rng.choice((1, 2, 5)), slide=slide))
        case TimeWindow(extent=None) if rng.random() < 0.5:
            return replace(item, window=TimeWindow(20_000_000))
        case RowsWindow(count=count, partition_by=by) if count > 1 and rng.random() < 0.7:
            return replace(item, window=RowsWindow(count // 2, by))
    return item
