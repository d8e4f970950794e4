"""Kept rows of an input, as a query that was changed needs them: fewer columns, more filters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from penstock.engine.expressions.evaluate import holds
from penstock.engine.rows.columns import END, PASSES, SEQUENCE, column_name, is_control
from penstock.engine.rows.lanes import is_lane
from penstock.engine.rows.layout import Layout, partition_by
from penstock.query import Condition
from penstock.query.expression import columns_of

_LAST = (PASSES, SEQUENCE, END)
"""Columns of the engine's own that stand behind those of the source."""


@dataclass(frozen=True)
class Carried:
    """The rows that are kept of an input, those that pass some more filters."""

    layout: Layout
    alias: str
    filters: tuple[Condition, ...] = ()

    @property
    def _payload(self) -> list[str]:
        """The columns of the source that are kept, in their order."""
        item = self.layout.query.input(self.alias)
        names = [column_name(column) for column in self.layout.payload(self.alias)]
        by = [f"{self.alias}.{name}" for name in partition_by(item)]
        return list(dict.fromkeys([*names, *by]))

    def lacks(self, known: Sequence[str]) -> Iterator[str]:
        """The columns that are needed, and not among those known."""
        read = [column_name(c) for each in self.filters for c in columns_of(each.expression)]
        yield from (name for name in (*self._payload, *read) if name not in known)

    def rows(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The rows as new ones are kept from now on."""
        for condition in self.filters:
            rows = _passing(rows, holds(condition.expression, rows, column_name))
        own = [n for n in rows.schema.names if is_control(n) or is_lane(n)]
        first = [n for n in own if n not in _LAST]
        return rows.select([*first, *self._payload, *(n for n in own if n in _LAST)])


def _passing(rows: pa.RecordBatch, held: pa.BooleanArray) -> pa.RecordBatch:
    """The rows for which a condition holds; those of a ROWS window count though they fail."""
    if PASSES not in rows.schema.names:
        return rows.filter(held)
    place = rows.schema.get_field_index(PASSES)
    return rows.set_column(place, PASSES, pc.and_(rows.column(PASSES), held))
