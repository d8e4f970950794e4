"""Everything laid out for a join before the first tuple arrives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.layout import Layout
from penstock.engine.local.clock import Work
from penstock.engine.local.joinable import comparisons_of, joinable
from penstock.engine.local.loops import Lowering
from penstock.engine.local.positions import Lifetimes, lifetimes_of
from penstock.engine.local.schedule import Mode, block_bounds, cleanings, ready_times
from penstock.errors import PlanError
from penstock.kernels.nested import KINDS, Loops, Schedule, Windows, run_blocks
from penstock.plan.multiway import MultiwayJoin
from penstock.query import Condition

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class Apparatus:
    """A plan with its input, as the kernel takes it; it can be run once.

    `kept` says which of an input's rows can join at all: the kernel sees only these. `ready` is
    when each block can be joined, `starts` where each input's rows start in the kernel's, and
    `outside` what it leaves to be checked.
    """

    plan: MultiwayJoin
    lives: Mapping[str, Lifetimes]
    times: Int64s
    kept: Mapping[str, Int64s]
    windows: Windows
    loops: Loops
    schedule: Schedule
    ready: Int64s
    starts: Int64s
    outside: tuple[Condition, ...]


@dataclass(frozen=True)
class Tally:
    """Counts of work, counted on in place; `ledger` has them after each block, if it has rows."""

    work: Int64s
    peaks: Int64s
    ledger: Int64s

    @property
    def total(self) -> Work:
        return Work(*self.work.tolist())


def set_up(
    plan: MultiwayJoin,
    tuples: Mapping[str, pa.Table],
    mode: Mode,
    expiration: int,
    buckets: Mapping[str, int],
) -> Apparatus:
    """Order the tuples, find their lifetimes, and lay out windows and loops."""
    layout = Layout(plan.query)
    inside, outside = comparisons_of(layout)
    lives, times = lifetimes_of(plan.query, tuples)
    codes = joinable(layout, inside, {alias: life.rows for alias, life in lives.items()})
    kept = {alias: np.flatnonzero(passes) for alias, passes in codes.passes.items()}
    lowering = Lowering(plan, layout, inside)
    windows = lowering.windows(lives, codes, _bucket_counts(lives, buckets))
    bounds = block_bounds(mode, times)
    return Apparatus(
        plan=plan,
        lives=lives,
        times=times,
        kept=kept,
        windows=windows,
        loops=lowering.loops(),
        schedule=Schedule(
            _arrivals(plan, lives, kept, len(times)), bounds, cleanings(expiration, times, bounds)
        ),
        ready=ready_times(mode, times, bounds),
        starts=np.cumsum([0, *(len(kept[alias]) for alias in plan.query.aliases)])[:-1],
        outside=outside,
    )


def tally(apparatus: Apparatus, with_ledger: bool) -> Tally:
    """Counts at zero."""
    blocks = len(apparatus.ready) if with_ledger else 0
    held = apparatus.windows.tail - apparatus.windows.head
    return Tally(np.zeros(KINDS, np.int64), held, np.zeros((blocks, KINDS), np.int64))


def execute(apparatus: Apparatus, counts: Tally, first: int = 0, last: int | None = None) -> Int32s:
    """The results of blocks `first` to before `last`: the kernel's row of each input."""
    found, count = run_blocks(
        apparatus.windows,
        apparatus.loops,
        apparatus.schedule,
        first,
        len(apparatus.ready) if last is None else last,
        counts.work,
        counts.ledger,
        counts.peaks,
        np.empty((1024, len(apparatus.starts)), np.int32),
    )
    results: Int32s = found[:count]
    return results


def _arrivals(
    plan: MultiwayJoin, lives: Mapping[str, Lifetimes], kept: Mapping[str, Int64s], count: int
) -> Int64s:
    arrivals = np.full(count, -1)
    for number, item in enumerate(plan.query.inputs):
        if not item.is_table:
            arrivals[lives[item.alias].births[kept[item.alias]]] = number
    return arrivals


def _bucket_counts(lives: Mapping[str, Lifetimes], given: Mapping[str, int]) -> dict[str, int]:
    """The buckets of each input: as given, or a power of two near the most tuples alive at once."""
    for alias, count in given.items():
        if count < 1:
            raise PlanError(f"a hash table of {alias} cannot have {count} buckets")
    return {alias: given.get(alias) or _power_above(life.peak()) for alias, life in lives.items()}


def _power_above(count: int) -> int:
    return 1 << max(0, count - 1).bit_length()
