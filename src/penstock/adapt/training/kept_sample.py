"""The kept sample of one stream: tuples with the least lots, that grow as the tuples age."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.adapt.settings import Settings
from penstock.duration import MICROS
from penstock.engine.join.sampling import exponential_lots
from penstock.engine.rows.columns import ARRIVAL, TS
from penstock.engine.wire.facts import InputSample
from penstock.engine.wire.packets import from_streams
from penstock.query import Query, TimeWindow
from penstock.sampling.sample import FEW_TEXTS, predicate_columns, training_columns

Floats = NDArray[np.float64]
Int64s = NDArray[np.int64]

_TOLD = 500
"""Tuples that tell whether a text is a class of tuples or a name."""


@dataclass(frozen=True)
class KeptSample:
    """Tuples of an input, `rows` with their event times; `lots` and `batches` are of each tuple.

    A lot is exponentially distributed. Those of least lot × 2^halvings are a sample without
    replacement in which a tuple's weight halves as it ages (Efraimidis and Spirakis 2006; forward
    decay, Cormode et al. 2009). `names` are texts with too many values to tell tuples apart, which
    are not read any more; `last_rows` are the tuples of the batch that was last drawn from.
    """

    alias: str
    rows: pa.Table | None = None
    lots: Floats = field(default_factory=lambda: np.empty(0))
    batches: Int64s = field(default_factory=lambda: np.empty(0, np.int64))
    names: frozenset[str] = frozenset()
    last_rows: int | None = None

    def __len__(self) -> int:
        return len(self.lots)

    def columns(self, query: Query) -> tuple[str, ...]:
        """The columns that are worth reading."""
        item = query.input(self.alias)
        return tuple(c for c in training_columns(query, item) if c not in self.names)

    def share(self, wanted: int) -> float:
        """The part of the next batch's tuples to draw, as if it had as many as the last one."""
        return 1.0 if self.last_rows is None else min(1.0, wanted / max(1, self.last_rows))

    def with_drawn(
        self, drawn: Sequence[InputSample], batch: int, query: Query, settings: Settings
    ) -> KeptSample:
        """The sample with what a batch has drawn, and without what has become too old for it."""
        new = from_streams(each.tuples for each in drawn)
        if new is None:
            return self
        more = KeptSample(
            self.alias,
            pa.table(new).drop_columns([ARRIVAL]),
            exponential_lots(self.alias, new.column(ARRIVAL).to_numpy()),
            np.full(len(new), batch, np.int64),
        )
        both = replace(self._joined(more), last_rows=sum(each.rows for each in drawn))
        return both._least(batch, query, settings)._without_names(query)

    def after(self, batch: int) -> KeptSample:
        """Only what came after a batch."""
        return self._at(np.flatnonzero(self.batches > batch))

    def _joined(self, more: KeptSample) -> KeptSample:
        assert more.rows is not None
        if self.rows is None:
            return replace(more, names=self.names)
        # A batch may have been asked for before a column turned out to be of names.
        rows = pa.concat_tables([self.rows, more.rows.select(self.rows.column_names)])
        lots = np.concatenate([self.lots, more.lots])
        return replace(self, rows=rows, lots=lots, batches=np.append(self.batches, more.batches))

    def _least(self, batch: int, query: Query, settings: Settings) -> KeptSample:
        """So many tuples that have the least lots by their age, in the order of their coming."""
        if len(self) <= settings.sample_size:
            return self
        aged = np.log(self.lots) + np.log(2.0) * self._halvings(batch, query, settings)
        return self._at(np.sort(np.argsort(aged, kind="stable")[: settings.sample_size]))

    def _halvings(self, batch: int, query: Query, settings: Settings) -> Floats:
        """How often a tuple's weight has halved: once in some batches, or in the time of a window
        if that is longer."""
        assert self.rows is not None
        halvings: Floats = (batch - self.batches) / settings.sample_half_life
        window = query.input(self.alias).window
        extent = window.extent if isinstance(window, TimeWindow) else None
        if extent:
            times = self.rows.column(TS).to_numpy()
            halvings = np.minimum(halvings, (times.max() - times) / max(extent, MICROS))
        return halvings

    def _without_names(self, query: Query) -> KeptSample:
        """The sample without texts of many values, unless a predicate reads them."""
        if self.rows is None or len(self) < _TOLD:
            return self
        read = predicate_columns(query, self.alias)
        names = {
            name
            for name in self.rows.column_names
            if name not in read and _is_name(self.rows.column(name))
        }
        return replace(self, rows=self.rows.drop_columns([*names]), names=self.names | names)

    def _at(self, places: Int64s) -> KeptSample:
        rows = None if self.rows is None else self.rows.take(pa.array(places))
        return replace(self, rows=rows, lots=self.lots[places], batches=self.batches[places])


def _is_name(column: pa.ChunkedArray) -> bool:
    """Whether a column is a text of many values."""
    if not pa.types.is_large_string(column.type):
        return False
    return int(pc.count_distinct(column, mode="all").as_py()) > FEW_TEXTS
