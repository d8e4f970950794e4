"""Exchange: rows to the partitions of a space, each to its own or all to every one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.rows.columns import ARRIVAL, hash_name, is_control
from penstock.engine.rows.lanes import is_lane
from penstock.engine.rows.layout import Layout
from penstock.engine.wire.packets import Packet, pack_rows
from penstock.engine.wire.tags import Tag
from penstock.kernels.hashing import combine, hash_column, partition_of

Int64s = NDArray[np.int64]


def spread(rows: pa.RecordBatch, tag: Tag, space: int, partitions: int) -> Iterator[Packet]:
    """Rows to all partitions of a space."""
    packet = pack_rows(space * partitions, tag, rows)
    return (replace(packet, pid=packet.pid + p) for p in range(partitions))


def scatter(
    rows: pa.RecordBatch, places: Int64s, tag: Tag, base: int, partitions: int
) -> Iterator[Packet]:
    """Rows as one packet for each partition that gets any."""
    if partitions == 1:
        yield pack_rows(base, tag, rows)
        return
    for p in range(partitions):
        mine = np.flatnonzero(places == p)
        if len(mine):
            yield pack_rows(base + p, tag, rows.take(pa.array(mine)))


def placement(layout: Layout, space: int, rows: pa.RecordBatch, partitions: int) -> Int64s:
    """The partition of each tuple within a space, which follows from the tuple alone."""
    if space < len(layout.keys):
        return partition_of(rows.column(hash_name(space)).to_numpy(), partitions)
    hashes = [hash_values(rows.column(name)) for name in _spreading(rows.schema.names)]
    return partition_of(combine(hashes), partitions)


def _spreading(names: list[str]) -> list[str]:
    """The columns by which tuples without a key are spread.

    Folded rows are spread by what they are folded by, so that those of later batches meet them.
    """
    if ARRIVAL in names:
        return [ARRIVAL]
    control = [name for name in names if is_control(name)]
    payload = [name for name in names if not is_control(name) and not is_lane(name)]
    return payload if payload and any(map(is_lane, names)) else control


def hash_values(column: pa.Array) -> Int64s:
    """A hash for each value of a column, that of 0 or of no text for NULL."""
    if pa.types.is_null(column.type):
        return np.zeros(len(column), np.int64)
    return hash_column(column.fill_null(_filler(column.type)) if column.null_count else column)


def _filler(kind: pa.DataType) -> pa.Scalar:
    if pa.types.is_boolean(kind):
        return pa.scalar(False)
    is_text = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
    return pa.scalar("" if is_text else 0, kind)
