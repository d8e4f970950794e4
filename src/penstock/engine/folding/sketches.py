"""Sketches: about how many different values there are at each point, and about which percentile."""

from __future__ import annotations

from math import ceil

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.folding.cover import Cover
from penstock.engine.rows.lanes import Lane, LaneKind
from penstock.engine.rows.list_lanes import codes_and_counts, parts_of
from penstock.kernels.aggregates.buckets import bucket_values, selected
from penstock.kernels.aggregates.registers import RANK_BITS, estimates
from penstock.query.view import Aggregate

Int64s = NDArray[np.int64]


def distinct_estimate(name: str, rows: pa.RecordBatch, cover: Cover) -> pa.Array:
    """APPROX_COUNT_DISTINCT of an argument."""
    owners, parts = parts_of(rows.column(str(Lane(LaneKind.REGISTERS, name))))
    codes = parts.to_numpy().astype(np.int64)
    starts, ends = cover.bounds(owners)
    ranks = codes & ((1 << RANK_BITS) - 1)
    return pa.array(estimates(codes >> RANK_BITS, ranks, starts, ends, cover.points))


def percentile(of: Aggregate, rows: pa.RecordBatch, cover: Cover, known: Int64s) -> pa.Array:
    """APPROX_PERCENTILE: the value with the rank ⌈p·n⌉ of n, as far as its bucket tells it."""
    assert of.argument is not None, "percentiles are of values"
    assert of.fraction is not None, "percentiles have a fraction"
    owners, parts = parts_of(rows.column(str(Lane(LaneKind.BUCKETS, of.argument.name))))
    codes, counts = codes_and_counts(parts)
    ordered, places = np.unique(codes, return_inverse=True)
    starts, ends = cover.bounds(owners)
    ranks = np.array([max(ceil(of.fraction * n), n > 0) for n in known.tolist()], np.int64)
    found = selected(starts, ends, places, counts, ranks, len(ordered))
    values = np.append(bucket_values(ordered), 0.0)[found]
    return pa.array(values, mask=found < 0)
