"""Taking: what a query takes of the combinations that another one has found for several."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from penstock.engine.join.batch import Taker
from penstock.engine.join.legs import Partial, where
from penstock.engine.rows.columns import TS, UNTIL, column_name, time_name
from penstock.engine.rows.lanes import Lane, LaneKind, is_lane
from penstock.engine.rows.lifetimes import alive_until
from penstock.engine.rows.sample_weights import sample_columns
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
    """The columns that the query reads, under its own names, and those by which its tuples stand
    for others that were shed."""
    layout = taker.batch.layout
    names = [(column_name(c), _found_name(taker, c)) for c in _columns(layout.query)]
    names += [pair for alias in sorted(layout.sampled) for pair in _sample_names(taker, alias)]
    payload = _with_weights(found, [theirs for _, theirs in names])
    payload = payload.select([theirs for _, theirs in names])
    return Partial(found.size, found.control, payload.rename_columns([own for own, _ in names]))


def _sample_names(taker: Taker, alias: str) -> list[tuple[str, str]]:
    theirs = sample_columns(taker.taking.called(alias))
    return list(zip(sample_columns(alias), theirs, strict=True))


def _with_weights(found: Partial, names: Sequence[str]) -> pa.RecordBatch:
    """The columns that were found; whoever finds them may not shed yet, or not any of this input:
    then every tuple stands for itself."""
    payload = found.payload
    lacking = [name for name in names if name not in payload.schema.names and is_lane(name)]
    for name in lacking:
        is_weight = Lane.parse(name).kind is LaneKind.WEIGHT
        values = np.ones(found.size) if is_weight else np.zeros(found.size, np.int64)
        payload = payload.append_column(name, pa.array(values))
    return payload


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
