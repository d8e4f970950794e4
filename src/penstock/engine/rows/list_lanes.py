"""List lanes: those in which a row of a view's table has many parts, such as a set of values.

Only join results have them. Tuples of an input that is aggregated early keep the values instead, as
they do those that several inputs make up.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.rows.lanes import Lane, LaneKind
from penstock.kernels.aggregates.buckets import bucket_codes
from penstock.kernels.aggregates.registers import RANK_BITS, register_codes
from penstock.kernels.grouping import counts_by, identities, least_by, order_keys, pair_ids
from penstock.kernels.hashing import hash_column

Int64s = NDArray[np.int64]

_LISTS = (LaneKind.SET, LaneKind.REGISTERS, LaneKind.BUCKETS)
_CODE, _COUNT = "code", "count"
_BUCKET = pa.struct([(_CODE, pa.int32()), (_COUNT, pa.int64())])


def is_list_lane(lane: Lane) -> bool:
    """Whether a lane has lists of parts."""
    return lane.kind in _LISTS


def list_type(kind: LaneKind, value: pa.DataType) -> pa.DataType:
    """The type of a lane of values."""
    parts = {LaneKind.REGISTERS: pa.int32(), LaneKind.BUCKETS: _BUCKET}
    return pa.large_list(parts.get(kind, value))


def single_lists(kind: LaneKind, values: pa.Array) -> pa.Array:
    """The lists of single values, empty for NULL."""
    known = values.drop_null()
    match kind:
        case LaneKind.REGISTERS:
            known = pa.array(register_codes(hash_column(known)))
        case LaneKind.BUCKETS:
            codes = bucket_codes(order_keys(known))
            known = _buckets(codes.astype(np.int64), np.ones(len(codes), np.int64))
    return _lists(values.is_valid().to_numpy(zero_copy_only=False), known)


def parts_of(lists: pa.Array) -> tuple[Int64s, pa.Array]:
    """The parts of all lists, and the number of the row that each of them is of."""
    offsets = lists.offsets.to_numpy()
    return np.repeat(np.arange(len(lists)), np.diff(offsets)), lists.flatten()


def codes_and_counts(parts: pa.StructArray) -> tuple[Int64s, Int64s]:
    """Buckets, and how many values are in each."""
    codes, counts = parts.flatten()
    return codes.to_numpy().astype(np.int64), counts.to_numpy()


def repeated_lists(lists: pa.Array, factors: Int64s) -> pa.Array:
    """Buckets with so many times as many values."""
    rows, parts = parts_of(lists)
    codes, counts = codes_and_counts(parts)
    return _lists(np.diff(lists.offsets.to_numpy()), _buckets(codes, counts * factors[rows]))


def merged_lists(kind: LaneKind, lists: pa.Array, ids: Int64s, count: int) -> pa.Array:
    """The lists of groups of rows, numbered from 0 to `count` − 1."""
    rows, parts = parts_of(lists)
    groups = ids[rows]
    match kind:
        case LaneKind.REGISTERS:
            codes = parts.to_numpy().astype(np.int64)
            both, firsts = pair_ids(groups, codes >> RANK_BITS)
            # Of one register the largest code has the largest rank.
            firsts = least_by(both, len(firsts), ~codes, np.ones(len(codes), np.bool_))
        case LaneKind.BUCKETS:
            codes, counts = codes_and_counts(parts)
            both, firsts = pair_ids(groups, codes)
            sums = counts_by(both, len(firsts), counts)
            parts, groups = _buckets(codes[firsts], sums), groups[firsts]
            firsts = np.arange(len(firsts))
        case _:
            _, firsts = pair_ids(groups, identities(parts))
    order = firsts[np.argsort(groups[firsts], kind="stable")]
    return _lists(np.bincount(groups[order], minlength=count), parts.take(pa.array(order)))


def _buckets(codes: Int64s, counts: Int64s) -> pa.StructArray:
    return pa.StructArray.from_arrays(
        [pa.array(codes.astype(np.int32)), pa.array(counts)], fields=list(_BUCKET)
    )


def _lists(lengths: NDArray[np.generic], parts: pa.Array) -> pa.Array:
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return pa.LargeListArray.from_arrays(pa.array(offsets), parts)
