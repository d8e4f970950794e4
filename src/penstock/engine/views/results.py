"""Results: where complete combinations go, into the sink's files or into the tally of a view."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import pyarrow as pa

from penstock.engine.join.batch import Batch
from penstock.engine.join.legs import Partial
from penstock.engine.sinks.sink import PartWriter
from penstock.engine.views.tally import Tally, output_columns
from penstock.engine.wire.packets import Packet, pack_fact


class Results(Protocol):
    """Takes the complete results that one partition finds in one round."""

    def add(self, found: Partial) -> None:
        """Take some results."""

    def close(self) -> Iterator[Packet]:
        """Packets with the results, or with the facts of their files."""


def results_at(batch: Batch, pid: int) -> Results:
    """Where a partition's results go."""
    return Written(batch, pid) if batch.layout.query.view is None else Tally(batch)


class Written:
    """Writes the query's outputs to a file of the sink."""

    def __init__(self, batch: Batch, pid: int):
        self._layout = batch.layout
        self._pid = pid
        self._writer = PartWriter(batch.staging, batch.layout.query)

    def add(self, found: Partial) -> None:
        """Write some results."""
        self._writer.write(pa.RecordBatch.from_pydict(output_columns(self._layout, found)))

    def close(self) -> Iterator[Packet]:
        """The fact of the file, if there is one."""
        for part in self._writer.close():
            yield pack_fact(self._pid, part)
