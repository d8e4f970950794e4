"""The rows of a view, out of the groups that the kernel has kept."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.expressions.evaluate import evaluate, holds
from penstock.engine.rows.columns import column_name, plain_name
from penstock.lab.kernels.aggregation import Groups
from penstock.lab.views.lowering import Able, own_groups
from penstock.query import Aggregate, Expression, Query, View

Int64s = NDArray[np.int64]
Columns = dict[str, pa.Array]


def view_rows(
    query: Query, view: View, able: Mapping[str, Able], strides: Mapping[str, int], groups: Groups
) -> pa.Table:
    """The view: its outputs of all groups that have join rows and pass HAVING.

    Without groups there is one row, even of nothing.
    """
    there = np.flatnonzero(groups.held) if view.groups else np.arange(1)
    return shown_rows(query, view, able, strides, groups, there)[1]


def shown_rows(
    query: Query,
    view: View,
    able: Mapping[str, Able],
    strides: Mapping[str, int],
    groups: Groups,
    there: Int64s,
) -> tuple[Int64s, pa.Table]:
    """Those of some groups that pass HAVING, and their outputs."""
    columns: Columns = {}
    for alias, one in able.items():
        columns |= _group_values(own_groups(query, view, alias), one, there // strides[alias])
    named = {column_name(group): columns[group.name] for group in view.groups}
    named |= {column_name(a.column): _aggregate(view, a, groups, there) for a in view.aggregates}
    known = pa.table(named)
    if view.having is not None:
        held = holds(view.having, known, column_name)
        known, there = known.filter(held), there[held.to_numpy(zero_copy_only=False)]
    outputs = {o.name: evaluate(o.expression, known, column_name) for o in view.outputs}
    return there, pa.table(outputs)


def _group_values(wanted: Mapping[str, Expression], one: Able, shares: Int64s) -> Columns:
    """The groups that one input decides, for each group of the query."""
    if not wanted or not len(shares):
        return {name: pa.array([], arrow_type(e.type)) for name, e in wanted.items()}
    numbers = one.representatives[shares % len(one.representatives)]
    rows = one.rows.take(pa.array(numbers))
    return {name: evaluate(e, rows, plain_name) for name, e in wanted.items()}


def _aggregate(view: View, aggregate: Aggregate, groups: Groups, there: Int64s) -> pa.Array:
    """One aggregate of these groups; of nothing but NULLs, COUNT is 0 and the others are NULL."""
    if aggregate.argument is None:
        return pa.array(groups.held[there])
    lane = view.arguments.index(aggregate.argument.name)
    sums, present = groups.sums[there, lane], groups.present[there, lane]
    if aggregate.function == "count":
        return pa.array(present)
    found = sums / np.maximum(present, 1) if aggregate.function == "avg" else sums
    return pa.array(found, mask=present == 0).cast(arrow_type(aggregate.type))
