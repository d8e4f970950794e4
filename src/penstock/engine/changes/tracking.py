"""Tracking: keep the change log of a view over ROWS windows, and read it where a tick is due."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.changes.change_log import EVERYTHING, MOST, ChangeLog, Lives
from penstock.engine.changes.changed_keys import ChangedKeys, key_hashes, traced
from penstock.engine.rows.columns import SEQUENCE, TS, UNTIL
from penstock.engine.rows.lifetimes import alive_until
from penstock.engine.rows.ticks import Ticks
from penstock.engine.state.tick_span import TickSpan
from penstock.query import Query
from penstock.query.traces import Trace

Int64s = NDArray[np.int64]
Rows = Mapping[str, pa.RecordBatch]


@dataclass(frozen=True)
class Tracked:
    """The log after a batch, if one is kept, and the changed keys; None if all may have changed."""

    log: ChangeLog | None = None
    changed: ChangedKeys | None = None


@dataclass(frozen=True)
class Tracking:
    """The tuples of a batch by which a view changes.

    `windows` are those of ROWS windows, old and new, with the times at which they die; `released`
    are the new ones of other inputs. Tuples from `first_number` on are new. `manner` is a number
    for how the groups are shown.
    """

    query: Query
    trace: Trace
    ticks: Ticks
    windows: Rows
    released: Rows
    first_number: int
    manner: int = 0

    def tracked(self, log: ChangeLog, span: TickSpan) -> Tracked:
        """The log with the batch in it, and what of it is due."""
        log = log.with_lives(self._lives(), self.ticks)
        if len(log) > MOST:
            return Tracked()
        if span.is_empty:
            return Tracked(log)
        changed, left = log.due(span.last, self.manner)
        return Tracked(left, traced(self.trace, changed, self.windows))

    def _lives(self) -> Iterator[Lives]:
        for alias, rows in self.windows.items():
            is_new = rows.column(SEQUENCE).to_numpy() >= self.first_number
            yield self._lives_of(alias, rows, rows.column(UNTIL).to_numpy(), is_new)
        for alias, rows in self.released.items():
            deaths = alive_until(self.query.input(alias).window, rows.column(TS).to_numpy())
            yield self._lives_of(alias, rows, deaths, np.ones(len(rows), np.bool_))

    def _lives_of(
        self, alias: str, rows: pa.RecordBatch, deaths: Int64s, is_new: NDArray[np.bool_]
    ) -> Lives:
        first, last = self.ticks.first(rows.column(TS).to_numpy()), self.ticks.last(deaths)
        key = self.trace.told_by.get(alias)
        if key is None:
            return Lives(EVERYTHING, np.zeros(len(rows), np.int64), first, last, is_new)
        return Lives(key, key_hashes(self.trace, key, rows), first, last, is_new)
