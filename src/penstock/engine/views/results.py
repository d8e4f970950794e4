"""Results: where complete combinations go: to the sink, to other queries, or to a view's tally."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol

import numpy as np
import pyarrow as pa

from penstock.engine.expressions.arrow_types import TIMESTAMP
from penstock.engine.join.batch import Batch
from penstock.engine.join.legs import Partial
from penstock.engine.rows.columns import SEQUENCE, TOLD, TS, number_name
from penstock.engine.rows.layout import Layout
from penstock.engine.sinks.sink import PartWriter
from penstock.engine.sources.derived_rows import DerivedWriter
from penstock.engine.views.taking import taken
from penstock.engine.views.tally import Tally, output_columns
from penstock.engine.wire.facts import Fact
from penstock.engine.wire.packets import Packet, pack_fact
from penstock.query.view import TIME


class Results(Protocol):
    """Takes the complete results that one partition finds in one round."""

    def add(self, found: Partial) -> None:
        """Take some results."""

    def close(self) -> Iterator[Packet]:
        """Packets with the results, or with the facts of their files."""


def results_at(batch: Batch, pid: int) -> Results:
    """Where a partition's results go."""
    if batch.takers:
        return Taken(batch, pid)
    return Written(batch, pid) if batch.layout.query.view is None else Tally(batch)


class Written:
    """Writes the query's outputs to a file of the sink, and to one that other queries read."""

    def __init__(self, batch: Batch, pid: int):
        self._layout = batch.layout
        self._pid = pid
        self._writer = PartWriter(batch.staging, batch.layout.query)
        self._derived = DerivedWriter(batch.handover)

    def add(self, found: Partial) -> None:
        """Write some results."""
        found = led_by_streams(self._layout, found)
        results = pa.RecordBatch.from_pydict(output_columns(self._layout, found))
        self._writer.write(results)
        if self._layout.tells_times:
            times = pa.array(found.control.get(TOLD, found.control[TS])).cast(TIMESTAMP)
            self._derived.write(results.append_column(TIME, times))

    def close(self) -> Iterator[Packet]:
        """The facts of the files, if there are any."""
        written: list[Fact] = [*self._writer.close(), *self._derived.close()]
        yield from (pack_fact(self._pid, each) for each in written)


class Taken:
    """Hands combinations to the queries that take them, each what is its own."""

    def __init__(self, batch: Batch, pid: int):
        self._maker = batch.layout.query
        self._takers = [(taker, results_at(taker.batch, pid)) for taker in batch.takers]

    def add(self, found: Partial) -> None:
        """Hand some combinations of all inputs out."""
        self.hand(frozenset(self._maker.aliases), found)

    def hand(self, members: frozenset[str], found: Partial) -> None:
        """Hand some combinations of these inputs out, to those who want them of no more."""
        for taker, results in self._takers:
            if taker.members == members:
                mine = taken(taker, self._maker, found)
                if len(mine):
                    results.add(mine)

    def close(self) -> Iterator[Packet]:
        """The packets of all queries, each with the query's number."""
        for taker, results in self._takers:
            for packet in results.close():
                yield replace(packet, tag=packet.tag.of(taker.number))


def led_by_streams(layout: Layout, found: Partial) -> Partial:
    """The combinations whose last tuple is that of a stream, and not a change of a relation."""
    if not layout.relations:
        return found
    own = [found.control[number_name(alias)] for alias in layout.relations]
    return found.take(np.flatnonzero(np.maximum.reduce(own) < found.control[SEQUENCE]))
