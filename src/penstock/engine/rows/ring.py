"""Rings: the tuples of a ROWS window, with those that push them out of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.rows.columns import END, PASSES, SEQUENCE, TS, UNTIL
from penstock.engine.rows.layout import partition_by
from penstock.engine.rows.lifetimes import FOREVER
from penstock.kernels.grouping import number_groups
from penstock.kernels.rows_lifetimes import ends_of
from penstock.query.query import Input
from penstock.query.window import RowsWindow

Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Ring:
    """The tuples that were in a ROWS window since the last batch, in their order.

    `ends` are the numbers of the tuples that push them out, if these have come. Where the window
    `holds_one`, each tuple is pushed out by the next.
    """

    rows: pa.RecordBatch
    ends: Int64s
    holds_one: bool = False

    @classmethod
    def of(cls, item: Input, rows: pa.RecordBatch) -> Ring:
        """The ring of numbered tuples of an input, old and new."""
        assert isinstance(item.window, RowsWindow), "only ROWS windows have a ring"
        sequence = rows.column(SEQUENCE).to_numpy()
        count = item.window.count
        return cls(rows, ends_of(sequence, *_groups(item, rows), count, FOREVER), count == 1)

    @property
    def alive(self) -> pa.RecordBatch:
        """The tuples that are in the window after the batch.

        One that fails the filters only pushes others out. In a window of one it has done so.
        """
        stays = self.ends == FOREVER
        return self.rows.filter(pa.array(stays & self.passing if self.holds_one else stays))

    @property
    def passing(self) -> Bools:
        """Whether tuples pass the filters of their input."""
        passing: Bools = self.rows.column(PASSES).to_numpy(zero_copy_only=False)
        return passing

    @property
    def with_ends(self) -> pa.RecordBatch:
        """The tuples, each with its end."""
        return self.rows.append_column(END, pa.array(self.ends))

    @property
    def with_deaths(self) -> pa.RecordBatch:
        """The tuples that pass, each with the last time at which it is alive."""
        times, pushed = self.rows.column(TS).to_numpy(), self.ends < FOREVER
        places = np.searchsorted(self.rows.column(SEQUENCE).to_numpy(), self.ends[pushed])
        deaths = np.full(len(times), FOREVER)
        deaths[pushed] = times[places] - 1
        rows = self.rows.append_column(UNTIL, pa.array(deaths))
        return travelling(rows, self.passing)


def _groups(item: Input, rows: pa.RecordBatch) -> tuple[Int64s, int]:
    """The PARTITION BY group of each tuple; NULL is a group of its own."""
    columns = [rows.column(f"{item.alias}.{name}") for name in partition_by(item)]
    ids, firsts = number_groups(columns, len(rows))
    return ids, len(firsts)


def travelling(rows: pa.RecordBatch, mask: Bools) -> pa.RecordBatch:
    """Numbered tuples as they go to their partitions."""
    chosen = rows if mask.all() else rows.filter(pa.array(mask))
    return chosen.drop_columns([PASSES])
