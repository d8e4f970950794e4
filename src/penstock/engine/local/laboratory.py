"""The laboratory: run a multi-way join tuple by tuple or every τ, and count and time its work.

The algorithms of Golab and Özsu are plans and modes here. With the driver first and methods
`nested`, `Eager` is their eager multi-way nested loops and `Lazy` their lazy one; with method
`hash` (`sorted` is the same here) they are the multi-way hash joins, with both methods the hybrid.
The driver at another place is general lazy, and one global order in every stream's order is naive.
All of them give the same results.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.evaluate import evaluate, holds
from penstock.engine.layout import Layout, column_name
from penstock.engine.local.apparatus import Apparatus, Tally, execute, set_up, tally
from penstock.engine.local.clock import (
    Clock,
    RealClock,
    SimulatedClock,
    Work,
    completions,
    total_cost,
)
from penstock.engine.local.schedule import Mode
from penstock.plan.plan import Plan
from penstock.query.window import MICROS

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class Outcome:
    """Results in the order of production, and what they took.

    `produced_at` is when each result was there (µs): on a simulated clock by its costs, otherwise
    the time of the tuple or re-execution that gave it. `busy` is the seconds that the work took,
    `elapsed` the seconds from the first arrival to the end of the work, had the input come in real
    time, and `utilisation` the busy seconds in a second of input: above 1, a backlog builds up.
    `peaks` are the most tuples that each window held.
    """

    results: pa.Table
    produced_at: Int64s
    work: Work
    busy: float
    elapsed: float
    utilisation: float
    peaks: Mapping[str, int]


_REAL = RealClock()


def run(
    plan: Plan,
    tuples: Mapping[str, pa.Table],
    mode: Mode,
    expiration: int = 0,
    clock: Clock = _REAL,
    buckets: Mapping[str, int] | None = None,
) -> Outcome:
    """Run a plan over all tuples of its inputs, late ones already dropped.

    A stream's table has its source's columns, its event times as `#ts` (µs) and its arrival numbers
    as `#arrival`. Windows are cleaned of dead tuples at every arrival (or re-execution), or every
    `expiration` microseconds of event time. `buckets` sets the sizes of hash tables by alias;
    otherwise there is about a bucket for each tuple of the window.
    """
    apparatus = set_up(plan, tuples, mode, expiration, buckets or {})
    counts = tally(apparatus, with_ledger=isinstance(clock, SimulatedClock))
    started = time.perf_counter()
    found = execute(apparatus, counts)
    timing = _timing(apparatus, counts, clock, time.perf_counter() - started)
    results, blocks = _results(apparatus, found)
    return Outcome(
        results=results,
        produced_at=timing.done[blocks],
        work=replace(counts.total, results=len(results)),
        busy=timing.busy,
        elapsed=timing.elapsed,
        utilisation=timing.utilisation,
        peaks=dict(zip(plan.query.aliases, counts.peaks.tolist(), strict=False)),
    )


@dataclass(frozen=True)
class _Timing:
    done: Int64s
    busy: float
    elapsed: float
    utilisation: float


def _timing(apparatus: Apparatus, counts: Tally, clock: Clock, seconds: float) -> _Timing:
    times = apparatus.times
    span = float(times[-1] - times[0]) / MICROS if len(times) else 0.0
    match clock:
        case RealClock():
            done, busy, elapsed = apparatus.ready, seconds, max(span, seconds)
        case SimulatedClock(costs=costs):
            done = completions(apparatus.ready, counts.ledger, costs)
            busy = total_cost(counts.total, costs)
            elapsed = float(done[-1] - times[0]) / MICROS if len(times) else 0.0
    return _Timing(done, busy, elapsed, busy / span if span else math.inf)


def _results(apparatus: Apparatus, found: Int32s) -> tuple[pa.Table, Int64s]:
    """The result rows, and the block that gave each."""
    query = apparatus.plan.query
    members = {
        alias: apparatus.kept[alias][found[:, i] - apparatus.starts[i]]
        for i, alias in enumerate(query.aliases)
    }
    kept = np.arange(len(found))
    combined = _combined(apparatus, members)
    for check in apparatus.outside:
        held = holds(check.expression, combined, column_name).to_numpy(zero_copy_only=False)
        kept, combined = kept[held], combined.filter(pa.array(held))
    columns = [evaluate(output.expression, combined, column_name) for output in query.outputs]
    births = [apparatus.lives[alias].births[rows[kept]] for alias, rows in members.items()]
    blocks = np.searchsorted(apparatus.schedule.blocks, np.max(births, axis=0), side="right") - 1
    return pa.table(columns, names=[output.name for output in query.outputs]), blocks


def _combined(apparatus: Apparatus, members: Mapping[str, Int64s]) -> pa.Table:
    """The columns of the members that results and checks read."""
    layout = Layout(apparatus.plan.query)
    columns = {}
    for alias, rows in members.items():
        for column in layout.payload(alias):
            whole = apparatus.lives[alias].rows.column(column.name)
            columns[column_name(column)] = whole.take(pa.array(rows))
    return pa.table(columns)
