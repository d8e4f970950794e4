"""Derived rows: the results of one query of a script, as the stream that others of it read.

Tasks leave them in files of the checkpoint, which live as long as the batch does. Each row has an
arrival number that follows from its values alone: whichever plan, batch and partition found it, it
comes to the same place among the tuples of its time.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.expressions.arrow_types import schema_of
from penstock.engine.places.file_names import unique_name
from penstock.engine.places.place import Place
from penstock.engine.rows.columns import ARRIVAL
from penstock.engine.sources.slices import Slice
from penstock.engine.sources.spool import FILE_ROWS, opened
from penstock.engine.state.store import Store
from penstock.engine.wire.exchange import hash_values
from penstock.engine.wire.facts import SpooledRows
from penstock.kernels.hashing import combine
from penstock.query.source import Source

FOLDER = "derived"
_NO_VALUE = np.int64(0x6E6F2076616C7565)
"""Stands for the hash of NULL, which is no other value."""
_POSITIVE = np.int64(2**63 - 1)

Int64s = NDArray[np.int64]


def arrival_numbers(rows: pa.RecordBatch) -> Int64s:
    """A number of 63 bits for each row: a hash of all its values, in the order of the columns."""
    numbers: Int64s = combine([_hashes(column) for column in rows.columns]) & _POSITIVE
    return numbers


def _hashes(column: pa.Array) -> Int64s:
    hashes = hash_values(column)
    if not column.null_count:
        return hashes
    is_null = column.is_null().to_numpy(zero_copy_only=False)
    return np.where(is_null, _NO_VALUE, hashes)


@dataclass(frozen=True)
class Handover:
    """Where the results of a query are left for others: below a checkpoint's root, as the rows of
    a source."""

    root: Place
    source: Source


class DerivedWriter:
    """Collects the results of one task in files; without a place to leave them, in none."""

    def __init__(self, handover: Handover | None):
        self._handover = handover
        self._held: list[pa.RecordBatch] = []
        self._rows = 0
        self._files: list[SpooledRows] = []

    def write(self, results: pa.RecordBatch) -> None:
        """Add results, with all the columns of the source."""
        if self._handover is None or not len(results):
            return
        schema = schema_of(self._handover.source.fields)
        self._held.append(results.select(schema.names).cast(schema))
        self._rows += len(results)
        if self._rows >= FILE_ROWS:
            self._flush(self._handover)

    def close(self) -> Iterator[SpooledRows]:
        """The files written, if any."""
        if self._handover is not None:
            self._flush(self._handover)
        yield from self._files

    def _flush(self, handover: Handover) -> None:
        if not self._held:
            return
        rows = pa.concat_batches(self._held)
        rows = rows.append_column(ARRIVAL, pa.array(arrival_numbers(rows)))
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, rows.schema) as writer:
            writer.write_batch(rows)
        data, name = sink.getvalue(), f"{FOLDER}/{unique_name('.arrow')}"
        Store(handover.root).write(name, data)
        self._files.append(SpooledRows(handover.source.name, name, len(rows), zlib.crc32(data)))
        self._held, self._rows = [], 0


def read_derived(
    root: Place, columns: tuple[str, ...], piece: Slice
) -> tuple[pa.RecordBatch, Int64s]:
    """The rows of a slice, in the columns asked for, and their arrival numbers."""
    assert piece.path is not None, "it is of a file"
    assert piece.checksum is not None, "which is told with it"
    whole = opened(root, piece.path, piece.checksum)
    rows = whole.slice(piece.number, piece.last - piece.first)
    return rows.select(list(columns)), rows.column(ARRIVAL).to_numpy()


def forget_derived(store: Store) -> None:
    """Delete all files of derived rows: the batch that read them is over."""
    store.remove(store.names(FOLDER))
