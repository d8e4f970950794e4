"""Asking tuples: those whose partners in an outer join are looked for in this batch."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.join.partition_state import PartitionState
from penstock.engine.routes.multiway_routes import Route
from penstock.engine.rows.lifetimes import alive_until
from penstock.engine.state.sealing import Seal
from penstock.engine.state.store import Chunk
from penstock.query import Window

Int64s = NDArray[np.int64]


def asking(route: Route, state: PartitionState) -> Iterator[pa.RecordBatch]:
    """The tuples of a route's driver that ask for partners, as it picks them."""
    match route.picks:
        case "new":
            yield from state.starting(route)
        case "all":
            chunks = [*state.old(route.driver), *state.new(route.driver)]
            yield from (chunk.rows for chunk in chunks)
        case "dying":
            window = state.batch.layout.query.input(route.driver).window
            seal = state.seals[_nullable(route)]
            yield from (_dying(window, chunk, seal) for chunk in state.old(route.driver))
        case "touched":
            new = [chunk.hashes for chunk in state.new(_nullable(route))]
            if new:
                hashes = np.unique(np.concatenate(new))
                yield from (_touched(chunk, hashes) for chunk in state.old(route.driver))


def _nullable(route: Route) -> str:
    return route.legs[-1].sought[0].visit.target


def _dying(window: Window | None, chunk: Chunk, seal: Seal) -> pa.RecordBatch:
    """The tuples whose end the nullable input passes in this batch."""
    until = alive_until(window, chunk.times)
    return chunk.rows.filter(pa.array((until >= seal.before) & (until < seal.after)))


def _touched(chunk: Chunk, hashes: Int64s) -> pa.RecordBatch:
    """The tuples whose keys have one of these hashes: those that new tuples may meet."""
    starts = np.searchsorted(chunk.hashes, hashes, "left")
    counts = np.searchsorted(chunk.hashes, hashes, "right") - starts
    before = np.cumsum(counts) - counts
    places = np.arange(int(counts.sum())) + np.repeat(starts - before, counts)
    return chunk.rows.take(pa.array(places))
