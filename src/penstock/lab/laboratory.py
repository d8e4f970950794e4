"""The laboratory: run a plan tuple by tuple or every τ, and count and time its work.

The algorithms of Golab and Özsu are plans and modes here. With the driver first and methods
`nested`, `Eager` is their eager multi-way nested loops and `Lazy` their lazy one; with method
`hash` (`sorted` is the same here) they are the multi-way hash joins, with both methods the hybrid.
The driver at another place is general lazy, and one global order in every stream's order is naive.
Join trees are those of Viglas and Naughton, and of Ayad and Naughton; a mesh and an eddy are those
of Query Mesh. All of them give the same results.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.expressions.evaluate import evaluate
from penstock.engine.rows.columns import column_name
from penstock.engine.rows.layout import Layout
from penstock.lab.apparatus import (
    Apparatus,
    execute,
    no_counts,
    set_up,
    settled_on_the_way,
)
from penstock.lab.charges import Screening, screenings
from penstock.lab.clock import NOTHING, Clock, OwnCosts, RealClock, SimulatedClock, Work
from penstock.lab.schedule import Mode
from penstock.lab.timing import timing_of
from penstock.lab.views.aggregation_join import AggregationWork
from penstock.plan.plan import Plan
from penstock.plan.text.shape import render_shape
from penstock.plan.tree import TreeJoin, branches

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class Outcome:
    """Results in the order of production, and what they took.

    `produced_at` is when each result was there (µs): on a simulated clock by its costs, otherwise
    the time of the tuple or re-execution that gave it. `busy` is the seconds that the work took,
    `elapsed` the seconds from the first arrival to the end of the work, had the input come in real
    time, and `utilization` the busy seconds in a second of input: above 1, a backlog builds up.
    With a server for each join, `busy` is the seconds of all and `utilization` that of the busiest.
    It is infinite where all input has one time.
    `peaks` are the most rows that each window held, and each inner join by its shape. `shed` are
    the tuples that the drop boxes kept out: they never arrived and were no work. `deciding` is the
    part of the busy seconds in which a mesh classified or an eddy learned, on a real clock; `own`
    that which filters and predicates took by themselves, on a simulated one. `aggregation` is the
    work of a view.
    """

    results: pa.Table
    produced_at: Int64s
    work: Work
    busy: float
    elapsed: float
    utilization: float
    peaks: Mapping[str, int]
    shed: Mapping[str, int]
    deciding: float
    own: float = 0.0
    aggregation: AggregationWork | None = None


_REAL = RealClock()


def run(
    plan: Plan,
    tuples: Mapping[str, pa.Table],
    mode: Mode,
    expiration: int = 0,
    clock: Clock = _REAL,
    buckets: Mapping[str, int] | None = None,
    by_bucket: bool = False,
) -> Outcome:
    """Run a plan over all tuples of its inputs, late ones already dropped.

    A stream's table has its source's columns, its event times as `#ts` (µs) and its arrival numbers
    as `#arrival`. Windows are cleaned of dead tuples at every arrival (or re-execution), or every
    `expiration` microseconds of event time. `buckets` sets the sizes of hash tables by alias;
    otherwise there is about a bucket for each tuple of the window. With `by_bucket`, cleaning looks
    at every bucket of a hashed window (G&O §4.1), which our chains do not need.
    """
    each = isinstance(clock, SimulatedClock) and clock.servers == "each"
    simulated = clock if isinstance(clock, SimulatedClock) else None
    apparatus = set_up(plan, tuples, mode, expiration, buckets or {}, each, simulated, by_bucket)
    counts = no_counts(apparatus, with_ledger=simulated is not None and not each)
    started = time.perf_counter()
    found = execute(apparatus, counts)
    seconds = time.perf_counter() - started
    results, kept, checks = _results(
        apparatus, found, NOTHING if simulated is None else simulated.own
    )
    timing = timing_of(apparatus, counts, clock, found, checks, seconds)
    produced = timing.produced[kept]
    if (produced[1:] < produced[:-1]).any():
        order = np.argsort(produced, kind="stable")
        results, produced = results.take(pa.array(order)), produced[order]
    return Outcome(
        results=results,
        produced_at=produced,
        work=replace(timing.work, results=len(results)),
        busy=timing.busy,
        elapsed=timing.elapsed,
        utilization=timing.utilization,
        peaks=dict(zip(_windows(plan), counts.peaks.tolist(), strict=False)),
        shed=apparatus.shed,
        deciding=float(counts.deciding[0]) if isinstance(clock, RealClock) else 0.0,
        own=timing.own,
    )


def _windows(plan: Plan) -> tuple[str, ...]:
    """The names of what holds rows: the inputs, and the joins of a tree below its root."""
    inner = tuple(branches(plan.root))[:-1] if isinstance(plan, TreeJoin) else ()
    return plan.query.aliases + tuple(map(render_shape, inner))


def _results(
    apparatus: Apparatus, found: Int32s, own: OwnCosts
) -> tuple[pa.Table, Int64s, tuple[Screening, ...]]:
    """The result rows, which of those found they are, and the checks of these that take time."""
    query = apparatus.plan.query
    members = {
        alias: apparatus.kept[alias][found[:, i] - apparatus.starts[i]]
        for i, alias in enumerate(query.aliases)
    }
    combined = _combined(apparatus, members)
    settled = settled_on_the_way(apparatus, found)
    checks, kept = screenings(apparatus.outside, combined, column_name, own, settled)
    if len(kept) < len(found):
        combined = combined.take(pa.array(kept))
    columns = [evaluate(output.expression, combined, column_name) for output in query.outputs]
    return pa.table(columns, names=[output.name for output in query.outputs]), kept, checks


def _combined(apparatus: Apparatus, members: Mapping[str, Int64s]) -> pa.Table:
    """The columns of the members that results and checks read."""
    layout = Layout(apparatus.plan.query)
    columns = {}
    for alias, rows in members.items():
        for column in layout.payload(alias):
            whole = apparatus.lives[alias].rows.column(column.name)
            columns[column_name(column)] = whole.take(pa.array(rows))
    return pa.table(columns)
