"""Asking tuples: those whose partners in an outer join are looked for in this batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.join.partition_state import PartitionState
from penstock.engine.routes.multiway_routes import Route, Sought
from penstock.engine.rows.columns import TS
from penstock.engine.rows.lifetimes import alive_until
from penstock.engine.state.sealing import ALL, Seal
from penstock.engine.state.store import Chunk
from penstock.query import Window

Int64s = NDArray[np.int64]


def asking(route: Route, state: PartitionState) -> Iterator[pa.RecordBatch]:
    """The tuples of a route's driver that ask for partners, as it picks them."""
    window = state.batch.layout.query.input(route.driver).window
    match route.picks:
        case "new":
            yield from state.starting(route)
        case "all":
            yield from (chunk.rows for chunk in _all(state, route.driver))
        case "dying":
            seal = state.seals[_asked(route)]
            yield from (_dying(window, chunk, seal) for chunk in state.old(route.driver))
        case "touched":
            hashes = _hashes(chunk.hashes for chunk in state.new(_asked(route)))
            yield from (_touched(chunk, hashes) for chunk in state.old(route.driver))
        case "ending":
            yield from (_dying(window, c, state.seals[ALL]) for c in _all(state, route.driver))
        case "coming":
            yield from (_coming(chunk, state.seals[ALL]) for chunk in _all(state, route.driver))
        case "met":
            yield from _met(route, state)


def _all(state: PartitionState, name: str) -> list[Chunk]:
    return [*state.old(name), *state.new(name)]


def _asked(route: Route) -> str:
    """The input in which a route of one outer join ends."""
    return _nullable(route.legs[-1].sought[0])


def _nullable(sought: Sought) -> str:
    assert sought.visit is not None, "it is a search"
    return sought.visit.target


def _dying(window: Window | None, chunk: Chunk, seal: Seal) -> pa.RecordBatch:
    """The tuples whose end is passed in this batch."""
    until = alive_until(window, chunk.times)
    return chunk.rows.filter(pa.array((until >= seal.before) & (until < seal.after)))


def _coming(chunk: Chunk, seal: Seal) -> pa.RecordBatch:
    """The tuples whose time is passed in this batch."""
    return chunk.rows.filter(pa.array(_is_passed(chunk, seal)))


def _met(route: Route, state: PartitionState) -> Iterator[pa.RecordBatch]:
    """The tuples from before that may be met by partners whose time is passed in this batch."""
    seal = state.seals[ALL]
    every = (sought for leg in route.legs for sought in leg.sought)
    (last,) = (sought for sought in every if sought.first == "during")
    hashes = _hashes(c.hashes[_is_passed(c, seal)] for c in _all(state, _nullable(last)))
    for chunk in _all(state, route.driver):
        rows = _touched(chunk, hashes)
        yield rows.filter(pa.array(rows.column(TS).to_numpy() < seal.before))


def _is_passed(chunk: Chunk, seal: Seal) -> NDArray[np.bool_]:
    passed: NDArray[np.bool_] = (chunk.times >= seal.before) & (chunk.times < seal.after)
    return passed


def _hashes(found: Iterable[Int64s]) -> Int64s:
    return np.unique(np.concatenate([np.zeros(0, np.int64), *found]))


def _touched(chunk: Chunk, hashes: Int64s) -> pa.RecordBatch:
    """The tuples whose keys have one of these hashes: those that new tuples may meet."""
    starts = np.searchsorted(chunk.hashes, hashes, "left")
    counts = np.searchsorted(chunk.hashes, hashes, "right") - starts
    before = np.cumsum(counts) - counts
    places = np.arange(int(counts.sum())) + np.repeat(starts - before, counts)
    return chunk.rows.take(pa.array(places))
