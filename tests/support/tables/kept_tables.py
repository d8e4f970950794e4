"""Random queries over tables that a stream of upserts keeps."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from penstock.query import Call, Condition, Input, Literal, RowsWindow
from support.streams.cases import BOOLEAN, DOUBLE, Case, column_of, compared


def with_kept_table(case: Case, rng: Random) -> Case | None:
    """A case in which one stream, or several, keep tables; None if it has one stream alone."""
    streams = list(case.query.streams)
    possible = [item for item in streams if len(case.query.reading(item.source.name)) == 1]
    # What is joined needs a stream that is the last of its results; a view does not.
    most = len(streams) - (case.query.view is None)
    chosen = rng.sample(possible, min(len(possible), most, rng.choice((1, 1, 2))))
    if not chosen:
        return None
    query = case.query
    for item in chosen:
        kept = _kept(rng, item)
        inputs = tuple(kept if each is item else each for each in query.inputs)
        there = (_there(kept),) if rng.random() < 0.7 else ()
        query = replace(query, inputs=inputs, filters=(*query.filters, *there))
    return replace(case, query=query)


def _kept(rng: Random, item: Input) -> Input:
    key = rng.choice((("k",), ("j",), ("s", "j"), ("x",)))
    source = replace(item.source, key=key)
    return Input(item.alias, source, RowsWindow(1, key), is_relation=True)


def _there(item: Input) -> Condition:
    """What `delete = 'x > 0.5'` leaves."""
    deletes = compared("gt", column_of(item, "x"), Literal(0.5, DOUBLE)).expression
    known = Call("coalesce", (deletes, Literal(False, BOOLEAN)), BOOLEAN)
    return Condition(Call("not", (known,), BOOLEAN))
