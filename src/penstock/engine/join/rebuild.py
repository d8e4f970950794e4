"""Rebuild: send the inputs' windows through the steps again, to make inner state anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from penstock.engine.join.batch import Batch
from penstock.engine.join.sequencer import ring_of
from penstock.engine.routes.address import address
from penstock.engine.rows.columns import END, PASSES
from penstock.engine.rows.lifetimes import FOREVER
from penstock.engine.rows.ring import travelling
from penstock.engine.wire.exchange import spread
from penstock.engine.wire.facts import Resend
from penstock.engine.wire.packets import Packet, pack_fact


@dataclass(frozen=True)
class Rebuild:
    """The step that takes the place of reading and numbering in a batch that rebuilds.

    For the snapshot of a view it comes after them.

    Partitions find most tuples in their own state. The tuples of ROWS windows come from the
    sequencer's rings, and those that visit all partitions of another space are sent there.
    """

    batch: Batch

    def call(self, packets: Iterable[Packet]) -> Iterator[Packet]:
        """A fact for every partition that has state, to wake it; what was to be read is not."""
        for _ in packets:
            pass
        states = self.batch.state.items()
        woken = {pid for module, chunks in states if module.place for pid in chunks}
        yield from (pack_fact(pid, Resend()) for pid in sorted({0, *woken}))

    def send(self, pid: int) -> Iterator[Packet]:
        """The tuples that a partition has to send before the first round."""
        yield pack_fact(pid, Resend())
        for alias in self.batch.layout.query.aliases:
            if self.batch.is_rows(alias):
                # For a snapshot the sequencer has sent the ring.
                yield from self._ring(alias) if pid == 0 and self.batch.rebuilds else ()
            else:
                yield from self._visitors(alias, pid)

    def _ring(self, alias: str) -> Iterator[Packet]:
        batch = self.batch
        for ring in ring_of(batch, alias):
            rows = ring.append_column(END, pa.array(np.full(len(ring), FOREVER)))
            passing = rows.column(PASSES).to_numpy(zero_copy_only=False)
            rows = travelling(rows, passing)
            yield from address(batch.layout, batch.routing, batch.partitions, alias, rows)

    def _visitors(self, alias: str, pid: int) -> Iterator[Packet]:
        batch = self.batch
        if pid // batch.partitions != batch.layout.spaces[alias][0]:
            return
        for route in batch.routing.routes_of(alias):
            for info in () if route.starts_at_home else batch.listed(alias, pid):
                rows = batch.rows_of(alias, info)
                yield from spread(rows, route.tag("drive"), route.legs[0].space, batch.partitions)
