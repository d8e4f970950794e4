"""The tuples that may still be among the first: the others need not be kept."""

from __future__ import annotations

from typing import cast

import numpy as np
import pyarrow as pa

from penstock.engine.rows.columns import TS, UNTIL
from penstock.engine.rows.lanes import COUNT
from penstock.engine.views.first_rows import sort_keys
from penstock.kernels.grouping import number_groups
from penstock.kernels.ranking.outlived import outlived
from penstock.query.expression import Column
from penstock.query.query import Query
from penstock.query.view import View


def has_candidates(query: Query) -> bool:
    """Whether only some of the tuples of a view need be kept.

    What they are ordered by never changes, as it does with groups.
    """
    top = None if query.view is None else query.view.top
    return top is not None and top.copies is not None and query.outer is None


def candidates(view: View, table: pa.RecordBatch, first: int) -> pa.RecordBatch:
    """The rows of an interval table that may be shown at the tick `first` or later.

    A tuple is never shown again once enough others stand before it that live as long.
    """
    assert view.top is not None
    copies = table.column(str(COUNT)).to_numpy()
    if view.top.count >= copies.sum():
        return table
    columns = {group: table.column(group.name) for group in view.groups}
    mine = [columns[group] for group in view.groups if group in view.top.parts]
    parts = number_groups(mine, len(table))[0]
    # Tuples are ordered by columns of theirs.
    orders = view.top.orders(view.groups)
    keys = [k for order in orders for k in sort_keys(order, columns[cast(Column, order.by)])]
    untils = table.column(UNTIL).to_numpy()
    places = np.lexsort([~untils, *keys[::-1], parts])
    is_there = table.column(TS).to_numpy() <= first
    living = untils[places], copies[places], is_there[places]
    gone = outlived(parts[places], *living, view.top.count)
    return table.take(pa.array(np.sort(places[~gone]))) if gone.any() else table
