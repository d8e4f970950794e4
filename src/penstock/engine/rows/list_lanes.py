"""List lanes: those in which a row of a view's table has many parts, such as a set of values.

Only join results have them. Tuples of an input that is aggregated early keep the values instead, as
they do those that several inputs make up.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.rows.lanes import Lane, LaneKind
from penstock.kernels.grouping import identities, pair_ids

Int64s = NDArray[np.int64]


def is_list_lane(lane: Lane) -> bool:
    """Whether a lane has lists of parts."""
    return lane.kind is LaneKind.SET


def list_type(value: pa.DataType) -> pa.DataType:
    """The type of a lane of values."""
    return pa.large_list(value)


def single_lists(values: pa.Array) -> pa.Array:
    """The lists of single values, empty for NULL."""
    return _lists(values.is_valid().to_numpy(zero_copy_only=False), values.drop_null())


def parts_of(lists: pa.Array) -> tuple[Int64s, pa.Array]:
    """The parts of all lists, and the number of the row that each of them is of."""
    offsets = lists.offsets.to_numpy()
    return np.repeat(np.arange(len(lists)), np.diff(offsets)), lists.flatten()


def merged_lists(lists: pa.Array, ids: Int64s, count: int) -> pa.Array:
    """The lists of groups of rows, numbered from 0 to `count` − 1: each part once."""
    rows, parts = parts_of(lists)
    groups = ids[rows]
    _, firsts = pair_ids(groups, identities(parts))
    order = firsts[np.argsort(groups[firsts], kind="stable")]
    return _lists(np.bincount(groups[order], minlength=count), parts.take(pa.array(order)))


def _lists(lengths: NDArray[np.generic], parts: pa.Array) -> pa.Array:
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return pa.LargeListArray.from_arrays(pa.array(offsets), parts)
