"""Row ends: the numbers at which tuples of ROWS windows die, for results that have them as members.

When an inner result is made, nobody knows yet what will push its members out of their windows. So
the sequencer tells with each batch the ends of all tuples that were in a ROWS window since the last
one. A member that is not among them has died before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.join.batch import Batch
from penstock.engine.places.place import Place
from penstock.engine.rows.columns import END, SEQUENCE, TS, number_name
from penstock.engine.state.store import Store, read_rows
from penstock.engine.wire.facts import Fact, RowEnds
from penstock.engine.wire.packets import Packet, pack_fact

Int64s = NDArray[np.int64]

DEAD = -1
"""The end of what died in an earlier batch: before every number."""


def tell_row_ends(batch: Batch, alias: str, rows: pa.RecordBatch) -> Iterator[Packet]:
    """The ends of an input's tuples, told to all partitions that keep results with it in them."""
    inners = [inner for inner in batch.routing.inners if alias in inner.members]
    if not inners:
        return
    told = rows.select([TS, SEQUENCE, END])
    info = Store(batch.root).write_chunk(("lives", alias), told, lasts=False)
    fact = RowEnds(alias, info)
    for space in sorted({inner.space for inner in inners}):
        for pid in range(space * batch.partitions, (space + 1) * batch.partitions):
            yield pack_fact(pid, fact)


@dataclass(frozen=True)
class KnownEnds:
    """The ends of ROWS tuples that facts have told a partition."""

    root: Place
    told: tuple[RowEnds, ...]

    @classmethod
    def of(cls, root: Place, facts: Iterable[Fact]) -> KnownEnds:
        """The ends that were told here."""
        return cls(root, tuple(fact for fact in facts if isinstance(fact, RowEnds)))

    @cached_property
    def _ends(self) -> dict[str, tuple[Int64s, Int64s]]:
        """The numbers of each input's tuples, in order, and their ends."""
        rows = {fact.alias: read_rows(self.root, fact.chunk) for fact in self.told}
        return {
            alias: (r.column(SEQUENCE).to_numpy(), r.column(END).to_numpy())
            for alias, r in rows.items()
        }

    def updated(self, rows: pa.RecordBatch, members: Iterable[str]) -> pa.RecordBatch:
        """Inner results that die with the first of their ROWS members."""
        ends = [self._ends_of(m, rows.column(number_name(m)).to_numpy()) for m in members]
        earliest = pa.array(np.minimum.reduce(ends))
        return rows.set_column(rows.schema.get_field_index(END), END, earliest)

    def _ends_of(self, alias: str, numbers: Int64s) -> Int64s:
        known, ends = self._ends.get(alias, (np.empty(0, np.int64), np.empty(0, np.int64)))
        if not len(known):
            return np.full(len(numbers), DEAD)
        places = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
        return np.where(known[places] == numbers, ends[places], DEAD)
