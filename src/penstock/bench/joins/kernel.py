"""How fast one core joins, tuple by tuple: the eager multi-way hash join of three streams."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
import pyarrow as pa

from penstock.duration import MICROS
from penstock.engine.rows.columns import ARRIVAL, TS
from penstock.lab.apparatus import execute, no_counts, set_up, total_work
from penstock.lab.schedule import Eager
from penstock.plan.multiway import MultiwayJoin, Probe, ProbeOrder
from penstock.query import (
    Column,
    DataType,
    Equality,
    Field,
    Input,
    Output,
    Query,
    Source,
    TimeWindow,
)

# Results are taken off the kernel this often, as a sink would.
_SLICE = 50_000
_FACTORS = (1, 2, 4, 8)


@dataclass(frozen=True)
class Load:
    """Three streams of `rate` tuples/s for so many seconds, joined on one uniform key over a window
    of so many seconds."""

    seconds: int
    rate: int
    window: int
    keys: int

    @property
    def tuples(self) -> int:
        return 3 * self.rate * self.seconds


@dataclass(frozen=True)
class Measured:
    """One run: seconds on one core, results, and the most tuples in all windows together."""

    seconds: float
    results: int
    state_tuples: int


class GrowthRow(TypedDict):
    """Time and state where the rate or the window is so many times that of the base."""

    grows: str
    factor: int
    tuples: int
    tuples_per_s: int
    seconds: float
    results: int
    state_tuples: int


class KernelDocument(TypedDict):
    """The figures for programs."""

    tuples: int
    tuples_per_s: int
    results: int
    state_tuples: int
    growth: list[GrowthRow]


def kernel_benchmark(
    seconds: int = 60, rate: int = 20_000, window: int = 10, keys: int = 100_000, repeats: int = 3
) -> KernelDocument:
    """Tuples/s of one core, the median of some runs, and how time and state grow.

    `growth` has rows for ×1, ×2, ×4 and ×8 of the rate and of the window, in a smaller size. There
    the keys grow with the window's tuples, so that a tuple finds as many partners in every row.
    """
    _measure(Load(1, 1_000, 1, 1_000))
    load = Load(seconds, rate, window, keys)
    runs = [_measure(load) for _ in range(repeats)]
    return {
        "tuples": load.tuples,
        "tuples_per_s": round(statistics.median(load.tuples / run.seconds for run in runs)),
        "results": runs[0].results,
        "state_tuples": runs[0].state_tuples,
        "growth": growth(Load(max(16, seconds // 3), rate // 8, 1, keys // 80)),
    }


def growth(base: Load) -> list[GrowthRow]:
    """Time and state when the rate or the window of a load doubles, three times over."""
    return [
        *(_growth_row("rate", f, base, rate=base.rate * f) for f in _FACTORS),
        *(_growth_row("window", f, base, window=base.window * f) for f in _FACTORS),
    ]


def _growth_row(
    what: str, factor: int, base: Load, rate: int | None = None, window: int | None = None
) -> GrowthRow:
    load = Load(base.seconds, rate or base.rate, window or base.window, base.keys * factor)
    run = _measure(load)
    return {
        "grows": what,
        "factor": factor,
        "tuples": load.tuples,
        "tuples_per_s": round(load.tuples / run.seconds),
        "seconds": run.seconds,
        "results": run.results,
        "state_tuples": run.state_tuples,
    }


def _measure(load: Load) -> Measured:
    plan = _plan(load)
    tuples = {alias: _tuples(load, seed) for seed, alias in enumerate(plan.query.aliases)}
    apparatus = set_up(plan, tuples, Eager(), expiration=0, buckets={})
    counts = no_counts(apparatus, with_ledger=False)
    started = time.perf_counter()
    for first in range(0, load.tuples, _SLICE):
        execute(apparatus, counts, first, min(first + _SLICE, load.tuples))
    spent = time.perf_counter() - started
    return Measured(spent, total_work(counts).results, int(counts.peaks.sum()))


def _plan(load: Load) -> MultiwayJoin:
    fields = (Field("k", DataType.BIGINT), Field("v", DataType.DOUBLE))
    window = TimeWindow(load.window * MICROS)
    inputs = tuple(
        Input(alias, Source(alias, fields, "synthetic"), window) for alias in ("A", "B", "C")
    )
    keys = [Column(item.alias, "k", DataType.BIGINT) for item in inputs]
    query = Query(
        inputs,
        outputs=tuple(Output(f"{a}_v", Column(a, "v", DataType.DOUBLE)) for a in ("A", "B", "C")),
        equalities=(Equality(keys[0], keys[1]), Equality(keys[1], keys[2])),
    )
    orders = [
        ProbeOrder(a, tuple(Probe(other, "hash") for other in query.aliases if other != a))
        for a in query.aliases
    ]
    return MultiwayJoin(query, tuple(orders))


def _tuples(load: Load, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    count = load.rate * load.seconds
    return pa.table(
        {
            TS: np.sort(rng.integers(0, load.seconds * MICROS, count)),
            ARRIVAL: np.arange(count),
            "k": rng.integers(0, load.keys, count),
            "v": rng.random(count),
        }
    )
