"""Apparatus: windows, loops and schedule of a run, laid out before the first tuple arrives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.rows.layout import Layout
from penstock.errors import PlanError
from penstock.lab.charges import Screening, prices_of, screens_of
from penstock.lab.clock import NOTHING, OwnCosts, SimulatedClock, Work
from penstock.lab.kernels.inner_state import Inner, empty_inner
from penstock.lab.kernels.nested import (
    KINDS,
    Counts,
    Loops,
    Schedule,
    Windows,
    insert_all,
    run_blocks,
)
from penstock.lab.kernels.prices import Prices, no_prices
from penstock.lab.kernels.tree import Paths, run_arrivals
from penstock.lab.layout.columns import Columns, Table
from penstock.lab.layout.joinable import Joinable, comparisons_of, joinable
from penstock.lab.layout.loops import Lowering, every_table
from penstock.lab.layout.paths import TreeLowering
from penstock.lab.layout.positions import Lifetimes, lifetimes_of
from penstock.lab.mesh.join_eddy import JoinEddy, join_eddy_of, run_join_eddy
from penstock.lab.mesh.mesh import Mesh, mesh_of, routes_of, run_mesh
from penstock.lab.mesh.route_screens import courses_of, settled_by_routes
from penstock.lab.schedule import Mode, block_bounds, cleanings, ready_times
from penstock.lab.shedding import kept_tuples
from penstock.plan.mesh import Eddy, MeshJoin
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from penstock.plan.tree import TreeJoin
from penstock.query import Condition

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass
class TreeState:
    """The paths of a tree's rows, and the inner rows that there are now."""

    paths: Paths
    inner: Inner


Machine = Loops | Mesh | JoinEddy | TreeState


@dataclass(frozen=True)
class Apparatus:
    """A plan with its input, as the kernel takes it; it can be run once.

    The kernel sees only rows that can join at all.
    """

    plan: Plan

    columns: Columns
    """The columns of the kernel's rows."""

    lives: Mapping[str, Lifetimes]
    """The lifetimes of each input's rows."""

    times: Int64s
    """The event time at each position (µs)."""

    kept: Mapping[str, Int64s]
    """The rows of each input that can join at all."""

    windows: Windows

    machine: Machine
    """The routes of the plan, as one of the kernels takes them."""

    schedule: Schedule

    ready: Int64s
    """When each block can be joined (µs)."""

    starts: Int64s
    """Where each input's rows start in the kernel's."""

    outside: tuple[Condition, ...]
    """The conditions that the kernel leaves to be checked."""

    shed: Mapping[str, int]
    """How many tuples of each stream never arrive."""

    screens: Mapping[str, tuple[Screening, ...]]
    """The filters of each stream that take time, in their order."""

    prices: Prices
    """What predicates take by themselves."""


def set_up(
    plan: Plan,
    tuples: Mapping[str, pa.Table],
    mode: Mode,
    expiration: int,
    buckets: Mapping[str, int],
    traced: bool = False,
    clock: SimulatedClock | None = None,
    by_bucket: bool = False,
) -> Apparatus:
    """Shed and order the tuples, find their lifetimes, and lay out windows and loops or paths.

    Where it is `traced`, a tree keeps what every inner row was made of. What predicates take by
    themselves is charged to the `clock`, if there is one. Windows are cleaned `by_bucket`, or each
    at once.
    """
    if traced:
        _refuse_tracing(plan)
    layout = Layout(plan.query)
    inside, outside = comparisons_of(layout)
    arriving = kept_tuples(plan, tuples)
    lives, times = lifetimes_of(plan.query, arriving)
    codes = joinable(layout, inside, {alias: life.rows for alias, life in lives.items()})
    kept = {alias: np.flatnonzero(passes) for alias, passes in codes.passes.items()}
    columns = Columns(layout, inside)
    starts = np.cumsum([0, *(len(kept[alias]) for alias in plan.query.aliases)])[:-1]
    own = NOTHING if clock is None else clock.own
    counts = _bucket_counts(lives, buckets)
    parts = _Parts(columns, lives, codes, counts, starts, own, by_bucket)
    windows, machine = _build(plan, parts, len(times), traced)
    bounds = block_bounds(mode, times)
    return Apparatus(
        plan=plan,
        columns=columns,
        lives=lives,
        times=times,
        kept=kept,
        windows=windows,
        machine=machine,
        schedule=Schedule(
            _arrivals(plan, lives, kept, len(times)), bounds, cleanings(expiration, times, bounds)
        ),
        ready=ready_times(mode, times, bounds),
        starts=starts,
        outside=outside,
        shed={i.alias: len(tuples[i.alias]) - len(arriving[i.alias]) for i in plan.query.streams},
        screens={} if clock is None else _screens(plan, lives, clock.own),
        prices=no_prices() if clock is None else prices_of(plan, layout, clock),
    )


def _screens(
    plan: Plan, lives: Mapping[str, Lifetimes], own: OwnCosts
) -> Mapping[str, tuple[Screening, ...]]:
    """The filters before the joins that take time: in a mesh each route has its own order."""
    if not isinstance(plan, MeshJoin):
        return screens_of(plan.query, lives, own)
    rows = {alias: life.rows for alias, life in lives.items()}
    return screens_of(plan.query, lives, own, courses_of(plan, rows))


def no_counts(apparatus: Apparatus, with_ledger: bool) -> Counts:
    """The counts of a run that has not begun."""
    blocks = len(apparatus.ready) if with_ledger else 0
    held = apparatus.windows.tail - apparatus.windows.head
    if isinstance(apparatus.machine, TreeState):
        held = np.concatenate([held, apparatus.machine.inner.held])
    return _counts(held, blocks, apparatus.prices)


def _counts(held: Int64s, blocks: int, prices: Prices) -> Counts:
    return Counts(
        work=np.zeros(KINDS, np.int64),
        ledger=np.zeros((blocks, KINDS), np.int64),
        peaks=held,
        deciding=np.zeros(1),
        prices=prices,
        spent=np.zeros(1),
        bill=np.zeros(blocks),
    )


def total_work(counts: Counts) -> Work:
    """All the work so far."""
    return Work(*counts.work.tolist())


def execute(
    apparatus: Apparatus, counts: Counts, first: int = 0, last: int | None = None
) -> Int32s:
    """The results of blocks `first` to before `last`: the kernel's row of each input."""
    end = len(apparatus.ready) if last is None else last
    room = np.empty((1024, len(apparatus.starts)), np.int32)
    windows, machine, schedule = apparatus.windows, apparatus.machine, apparatus.schedule
    match machine:
        case TreeState():
            machine.inner, found, count = run_arrivals(
                windows, machine.paths, machine.inner, schedule, first, end, counts, room
            )
        case Mesh():
            found, count = run_mesh(windows, machine, schedule, first, end, counts, room)
        case JoinEddy():
            found, count = run_join_eddy(windows, machine, schedule, first, end, counts, room)
        case _:
            found, count = run_blocks(windows, machine, schedule, first, end, counts, room)
    results: Int32s = found[:count]
    return results


def settled_on_the_way(apparatus: Apparatus, found: Int32s) -> dict[str, NDArray[np.bool_]]:
    """By the text of a filter, the results for which the route of a mesh has decided it."""
    plan, machine = apparatus.plan, apparatus.machine
    if not isinstance(plan, MeshJoin) or not isinstance(machine, Mesh):
        return {}
    return settled_by_routes(plan, apparatus.windows, machine.loops, found)


def blocks_of(apparatus: Apparatus, positions: Int64s) -> Int64s:
    """The block that each position is in."""
    return np.searchsorted(apparatus.schedule.blocks, positions, side="right") - 1


def _refuse_tracing(plan: Plan) -> None:
    """Refuse a server for each join of a plan that is one operator."""
    if not isinstance(plan, TreeJoin):
        raise PlanError(
            "a multi-way join is one operator and cannot have a server for each join",
            hint="let all its work share one: servers='shared'",
        )


@dataclass(frozen=True)
class _Parts:
    """The input of a run, of which windows and machine are made."""

    columns: Columns
    lives: Mapping[str, Lifetimes]
    codes: Joinable

    sizes: Mapping[str, int]
    """The buckets of each input's hash tables."""

    starts: Int64s
    """Where each input's rows start."""

    own: OwnCosts
    """What filters take by themselves."""

    by_bucket: bool
    """Whether cleaning looks at every bucket."""

    def windows(self, hashed: Sequence[Table]) -> Windows:
        """Empty windows with these hash tables."""
        return self.columns.windows(hashed, self.lives, self.codes, self.sizes, self.by_bucket)

    def filled(self, hashed: Sequence[Table]) -> Windows:
        """Windows with these hash tables, and the rows of tables in them."""
        windows = self.windows(hashed)
        insert_all(windows, self.table_rows())
        return windows

    def table_rows(self) -> Int64s:
        """The number of its input, for each row of a table."""
        inputs = self.columns.layout.query.inputs
        counts = [int(self.codes.passes[i.alias].sum()) if i.is_table else 0 for i in inputs]
        return np.repeat(np.arange(len(inputs)), counts)

    def able(self) -> dict[str, pa.Table]:
        """The rows of each input that can join at all."""
        passes = self.codes.passes
        return {alias: life.rows.filter(passes[alias]) for alias, life in self.lives.items()}


def _build(plan: Plan, parts: _Parts, positions: int, traced: bool) -> tuple[Windows, Machine]:
    """The windows, with the tables in them, and what is done with them."""
    columns = parts.columns
    match plan:
        case MultiwayJoin():
            lowering = Lowering(plan.orders, columns)
            return parts.filled(lowering.tables), lowering.loops(parts.codes.counts)
        case MeshJoin():
            lowering = routes_of(plan, columns)
            windows = parts.filled(lowering.tables)
            return windows, mesh_of(plan, lowering, parts.able(), parts.starts, parts.own)
        case Eddy():
            windows = parts.filled(every_table(columns))
            return windows, join_eddy_of(plan, columns, parts.able(), parts.starts)
        case TreeJoin():
            return _build_tree(plan, parts, positions, traced)
        case _:
            assert_never(plan)


def _build_tree(
    plan: TreeJoin, parts: _Parts, positions: int, traced: bool
) -> tuple[Windows, TreeState]:
    tree = TreeLowering(plan, parts.columns)
    windows = parts.windows(tree.tables())
    inner = empty_inner(len(plan.query.inputs), positions, traced)
    state = TreeState(tree.paths(), inner)
    _climb_first(windows, state, parts.table_rows())
    return windows, state


def _climb_first(windows: Windows, state: TreeState, tables: Int64s) -> None:
    """Let the rows of tables climb before any tuple: a join of two tables has inner rows too."""
    inputs, joins = len(windows.head), len(state.inner.held)
    state.inner, _, _ = run_arrivals(
        windows,
        state.paths,
        state.inner,
        Schedule(tables, np.array([0, len(tables)]), np.zeros(1, np.bool_)),
        0,
        1,
        _counts(np.zeros(inputs + joins, np.int64), 0, no_prices()),
        np.empty((0, inputs), np.int32),
    )


def _arrivals(
    plan: Plan, lives: Mapping[str, Lifetimes], kept: Mapping[str, Int64s], count: int
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
