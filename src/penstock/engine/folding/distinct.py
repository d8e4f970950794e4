"""Distinct values: each counts once at a point, however many rows over it have it."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
import pyarrow as pa

from penstock.engine.folding.cover import Cover
from penstock.engine.rows.lanes import Lane, LaneKind
from penstock.engine.rows.list_lanes import parts_of
from penstock.engine.rows.value_lanes import value_lanes
from penstock.kernels.aggregates.unions import unions
from penstock.kernels.grouping import number_groups
from penstock.query.view import Aggregate, AggregateFunction, View


def once(
    of: Aggregate, rows: pa.RecordBatch, cover: Cover
) -> tuple[Aggregate, pa.RecordBatch, Cover]:
    """COUNT, SUM or AVG of rows in which each value is alone wherever it is at all."""
    assert of.argument is not None, "only values are distinct"
    name = of.argument.name
    owners, values = parts_of(rows.column(str(Lane(LaneKind.SET, name))))
    is_seen = cover.lengths[owners] > 0
    owners, values = owners[is_seen], values.filter(pa.array(is_seen))
    starts, ends = cover.bounds(owners)
    ids, _ = number_groups([values], len(values))
    order = np.lexsort((starts, ids))
    firsts, begins, lengths = unions(ids[order], starts[order], ends[order])
    plain = replace(of, function=cast("AggregateFunction", of.function.removesuffix("_distinct")))
    lanes = value_lanes(View((), (plain,), ()), name, values.take(pa.array(order[firsts])))
    return plain, pa.RecordBatch.from_pydict(lanes), Cover(begins, lengths, cover.points)
