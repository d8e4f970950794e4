"""Taking: what a query takes of the combinations that another one has found for several."""

from __future__ import annotations

import numpy as np

from penstock.engine.join.batch import Taker
from penstock.engine.join.legs import Partial, where
from penstock.engine.rows.columns import TS, UNTIL, column_name, time_name
from penstock.engine.rows.lifetimes import alive_until
from penstock.query import Query
from penstock.query.expression import Column, columns_of


def taken(taker: Taker, maker: Query, found: Partial) -> Partial:
    """The combinations that are the query's own, as if it had found them itself.

    They are alive together in its own windows, which may be shorter, and meet all its conditions,
    whatever those of the maker are.
    """
    query = taker.batch.layout.query
    found = _own_columns(taker, found)
    # Filters leave least to look at, and have to do with no other input.
    for condition in query.filters:
        found = where(condition, found)
    found = _alive(taker, maker, found)
    for condition in query.thetas:
        found = where(condition, found)
    return found


def differing(taker: Query, maker: Query, aliases: dict[str, str]) -> tuple[str, ...]:
    """The inputs of a query whose windows are not those of who finds its combinations."""
    mine = ((item.alias, item.window) for item in taker.inputs)
    return tuple(a for a, window in mine if window != maker.input(aliases[a]).window)


def _own_columns(taker: Taker, found: Partial) -> Partial:
    """The columns that the query reads, under its own names."""
    names = [(column_name(c), _found_name(taker, c)) for c in _columns(taker.batch.layout.query)]
    payload = found.payload.select([theirs for _, theirs in names])
    return Partial(found.size, found.control, payload.rename_columns([own for own, _ in names]))


def _found_name(taker: Taker, column: Column) -> str:
    return f"{taker.taking.called(column.stream)}.{column.name}"


def _columns(query: Query) -> list[Column]:
    expressions = [output.expression for output in query.outputs]
    expressions += [condition.expression for condition in (*query.filters, *query.thetas)]
    return sorted({c for e in expressions for c in columns_of(e)}, key=column_name)


def _alive(taker: Taker, maker: Query, found: Partial) -> Partial:
    """Those whose tuples are alive together, with the time at which the first of them dies.

    The maker's windows are no shorter, so that what it says of the others holds.
    """
    query, aliases = taker.batch.layout.query, dict(taker.taking.aliases)
    until = found.control[UNTIL]
    for alias in differing(query, maker, aliases):
        born = found.control[time_name(aliases[alias])]
        until = np.minimum(until, alive_until(query.input(alias).window, born))
    if until is found.control[UNTIL]:
        return found
    found = Partial(found.size, found.control | {UNTIL: until}, found.payload)
    alive = until >= found.control[TS]
    return found if alive.all() else found.take(np.flatnonzero(alive))
