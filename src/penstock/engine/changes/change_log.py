"""The change log: which keys of a view over ROWS windows change at which ticks to come.

The sequencer writes down who comes and who goes, each at the first tick that sees it, and at a tick
that is due takes out whatever has changed since the one before. The log is state: a tuple may have
gone in a batch that had no tick, and is nowhere else any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.rows.columns import TS
from penstock.engine.rows.lifetimes import FOREVER
from penstock.engine.rows.ticks import Ticks
from penstock.kernels.grouping import number_groups
from penstock.kernels.sorting import distinct

Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]

KEY = "#key"
"""The key class of a changed key; one of these instead of it:"""
EVERYTHING = -2
_BEGUN = -3

HASH = "#hash"
"""The hash of a changed key."""

# Beyond this the log would take more than the joins that it spares: it ends, for good.
MOST = 1 << 20


@dataclass(frozen=True)
class Lives:
    """The ticks at which tuples of one input are seen, `first` to `last`.

    Their keys have `hashes` in a key class. Not all of them are new.
    """

    key: int
    hashes: Int64s
    first: Int64s
    last: Int64s
    is_new: Bools

    def changes(self, ticks: Ticks) -> pa.RecordBatch:
        """The ticks at which they come, those that are new, and at which they have gone."""
        seen = self.first <= self.last
        come, gone = seen & self.is_new, seen & (self.last < FOREVER)
        hashes = np.concatenate([self.hashes[come], self.hashes[gone]])
        times = np.concatenate([self.first[come], self.last[gone] + ticks.every])
        return _entries(self.key, hashes, times)


@dataclass(frozen=True)
class ChangeLog:
    """Changed keys, each with the first tick that sees the change.

    One row is always there, by which an empty log differs from none. Its hash is the `manner` in
    which the view was last evaluated: in another one, all groups may be shown differently.
    """

    rows: pa.RecordBatch

    @classmethod
    def begun(cls, manner: int) -> ChangeLog:
        """The log of a run that has read nothing yet."""
        return cls(_entries(_BEGUN, np.array([manner]), np.full(1, FOREVER)))

    @property
    def manner(self) -> int:
        """The manner of the last evaluation."""
        is_begun = self.rows.column(KEY).to_numpy() == _BEGUN
        return int(self.rows.column(HASH).to_numpy()[is_begun][0])

    def __len__(self) -> int:
        return len(self.rows)

    def with_lives(self, lives: Iterable[Lives], ticks: Ticks) -> ChangeLog:
        """The log with more in it, each change once."""
        rows = pa.concat_batches([self.rows, *(each.changes(ticks) for each in lives)])
        _, firsts = number_groups(rows.columns, len(rows))
        return ChangeLog(rows.take(pa.array(np.sort(firsts))))

    def due(self, last: int, manner: int) -> tuple[Mapping[int, Int64s], ChangeLog]:
        """The keys by class that have changed at a tick, in order, and the log without them."""
        keys = self.rows.column(KEY).to_numpy()
        is_due = (self.rows.column(TS).to_numpy() <= last) & (keys != _BEGUN)
        mine, hashes = keys[is_due], self.rows.column(HASH).to_numpy()[is_due]
        changed = {int(key): distinct(hashes[mine == key]) for key in distinct(mine)}
        if manner != self.manner:
            changed[EVERYTHING] = np.zeros(1, np.int64)
        left = self.rows.filter(pa.array(~is_due & (keys != _BEGUN)))
        return changed, ChangeLog(pa.concat_batches([ChangeLog.begun(manner).rows, left]))


def _entries(key: int, hashes: Int64s, times: Int64s) -> pa.RecordBatch:
    columns = {TS: times, KEY: np.full(len(hashes), key), HASH: hashes}
    return pa.RecordBatch.from_pydict({name: pa.array(each) for name, each in columns.items()})
