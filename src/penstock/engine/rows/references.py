"""References: the wide lanes of rows on their way through a join, as places in a table.

What a folded row of a sampled input carries for estimates is dozens of numbers. A join takes rows
anew at every visit, condition and slice; so it takes the places of these lists, and who adds up the
results reads them where they are. Rows that travel or are kept have the lists themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.rows.accumulators import as_rows
from penstock.engine.rows.lanes import is_wide_lane

Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]


def taken(rows: pa.RecordBatch, places: Int64s) -> pa.RecordBatch:
    """Rows at the given places, with their wide lanes by reference."""
    chosen, names = pa.array(places), rows.schema.names
    if not any(map(is_wide_lane, names)):
        # pyarrow cannot take from a batch that has no columns.
        return rows.take(chosen) if names else rows
    columns = [
        _referred(column, chosen) if is_wide_lane(name) else column.take(chosen)
        for name, column in zip(names, rows.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, names=names)


def put_together(pieces: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """The rows of several batches with the same columns."""
    names = pieces[0].schema.names
    if not any(map(is_wide_lane, names)):
        return pa.concat_batches(pieces)
    columns = [
        _concat([piece.column(place) for piece in pieces], is_wide=is_wide_lane(name))
        for place, name in enumerate(names)
    ]
    return pa.RecordBatch.from_arrays(columns, names=names)


def resolved(column: pa.Array) -> pa.Array:
    """A column that has its values itself."""
    is_reference = pa.types.is_dictionary(column.type)
    return column.dictionary.take(column.indices) if is_reference else column


def table_and_places(column: pa.Array) -> tuple[Floats, Int64s]:
    """The rows of numbers that a wide lane is of, and which of them each of its rows has."""
    if pa.types.is_dictionary(column.type):
        return as_rows(column.dictionary), column.indices.to_numpy()
    return as_rows(column), np.arange(len(column))


def _referred(column: pa.Array, places: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        return column.take(places)
    return pa.DictionaryArray.from_arrays(places, column, safe=False)


def _concat(columns: list[pa.Array], *, is_wide: bool) -> pa.Array:
    if not is_wide or not all(pa.types.is_dictionary(column.type) for column in columns):
        return pa.concat_arrays([resolved(column) if is_wide else column for column in columns])
    tables: dict[tuple[int, int], tuple[int, pa.Array]] = {}
    size, moved = 0, []
    for column in columns:
        table = column.dictionary
        where = (table.flatten().buffers()[1].address, table.offset) if len(table) else (0, 0)
        if where not in tables:
            tables[where] = size, table
            size += len(table)
        moved.append(column.indices.to_numpy() + tables[where][0])
    if len(tables) == 1:
        return pa.DictionaryArray.from_arrays(
            pa.array(np.concatenate(moved)), columns[0].dictionary, safe=False
        )
    if size > sum(map(len, columns)):
        # The tables are larger than what is chosen from them.
        return pa.concat_arrays([resolved(column) for column in columns])
    together = pa.concat_arrays([table for _, table in tables.values()])
    return pa.DictionaryArray.from_arrays(pa.array(np.concatenate(moved)), together, safe=False)
