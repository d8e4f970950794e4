"""Fold: let rows stand for several tuples, and make one of those that a view cannot tell apart.

This is aggregation before the join (T&L): a folded row has the number of its tuples, and of every
aggregate's argument that reads this input alone what the aggregate needs. All else that the join or
the view reads is what the rows are folded by, and so are the ticks at which they are seen.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from penstock.engine.expressions.evaluate import evaluate
from penstock.engine.rows.accumulators import fold
from penstock.engine.rows.columns import ARRIVAL, TS, UNTIL, column_name, group_name, is_control
from penstock.engine.rows.lanes import count_of
from penstock.engine.rows.layout import Layout
from penstock.engine.rows.lifetimes import alive_until
from penstock.engine.rows.sample_weights import summed, with_samples
from penstock.engine.rows.value_lanes import value_lanes


def with_lanes(layout: Layout, alias: str, rows: pa.RecordBatch) -> pa.RecordBatch:
    """Tuples with lanes in which each stands for itself, if the input is weighted.

    Those of a sampled input stand for others too, if they have come since it is shed.
    """
    view = layout.query.view
    if alias in layout.sampled:
        rows = with_samples(rows, alias, layout.quantities(alias))
    count = str(count_of(alias))
    if view is None or alias not in layout.weighted or count in rows.schema.names:
        return rows
    carried = layout.carried(alias)
    kept = [name for name in rows.schema.names if is_control(name) or name in carried]
    columns = {name: rows.column(name) for name in kept}
    if UNTIL not in columns:
        times = rows.column(TS).to_numpy()
        columns[UNTIL] = pa.array(alive_until(layout.query.input(alias).window, times))
    columns[count] = pa.array(np.ones(len(rows), np.int64))
    for output in layout.query.outputs:
        if layout.owners.get(output.name) == alias:
            values = evaluate(output.expression, rows, column_name)
            if layout.is_group(output.name):
                columns[group_name(output.name)] = values
            else:
                columns |= value_lanes(view, output.name, values)
    lanes = pa.RecordBatch.from_pydict(columns)
    is_sampled = alias in layout.sampled
    return summed(rows, lanes, alias, layout.quantities(alias)) if is_sampled else lanes


def folded(layout: Layout, alias: str, rows: pa.RecordBatch, open_tick: int) -> pa.RecordBatch:
    """Tuples of an early input as one row for all that are seen at the same ticks from now on.

    They are born at their first tick, or at the one that is evaluated next, and die at their last.
    """
    if alias not in layout.early:
        return rows
    ticks = layout.ticks
    assert ticks is not None, "only views are aggregated early"
    rows = with_lanes(layout, alias, rows)
    first = np.maximum(ticks.first(rows.column(TS).to_numpy()), open_tick)
    last = ticks.last(rows.column(UNTIL).to_numpy())
    columns = {n: rows.column(n) for n in rows.schema.names if n != ARRIVAL}
    columns |= {TS: pa.array(ticks.born(first)), UNTIL: pa.array(ticks.dies(last))}
    rows = pa.RecordBatch.from_pydict(columns)
    seen = first <= last
    return fold(rows if seen.all() else rows.filter(pa.array(seen)))
