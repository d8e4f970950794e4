"""A query mesh in the laboratory: classify a window of tuples, then let each take its route."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.lab.clock import NOTHING, OwnCosts
from penstock.lab.kernels.nested import Counts, Loops, Schedule, Windows, run_blocks
from penstock.lab.kernels.routing import classify_next
from penstock.lab.layout.columns import Columns
from penstock.lab.layout.loops import Lowering
from penstock.lab.mesh.forest import Forest, forest_of
from penstock.lab.mesh.join_lottery import JoinLottery, lottery_of, order_of
from penstock.lab.mesh.route_screens import screens_in
from penstock.plan.mesh import MeshJoin

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]

CLASSIFICATION_WINDOW = 1_000
"""Tuples of a stream that are classified at once, on average over all streams (QM Table 1)."""


@dataclass(frozen=True)
class Mesh:
    """The loops of all routes, the classifiers of all inputs, the lottery if there is one, and
    after how many tuples of all streams both are asked again.

    Of the rows of a stream those of a route go their own way if they are at least `least`.
    """

    loops: Loops
    forest: Forest
    lottery: JoinLottery | None
    window: int
    least: int = 1

    def decide(self, arrivals: Int64s, windows: Windows) -> None:
        """Give the rows that arrive next their routes."""
        forest = self.forest
        if forest.is_needed:
            coming = windows.tail.copy()
            classify_next(forest.trees, forest.values, arrivals, coming, self.loops.routes)
            if self.least > 1:
                for first, last in zip(windows.tail.tolist(), coming.tolist(), strict=True):
                    _group(self.loops.routes[first:last], self.least)
        if self.lottery is not None:
            self.lottery.draw(self.loops)

    @property
    def is_settled(self) -> bool:
        """Whether there is nothing to decide."""
        return not self.forest.is_needed and self.lottery is None


def routes_of(plan: MeshJoin, columns: Columns) -> Lowering:
    """All routes of a mesh as orders, one driver's after another's."""
    orders = [order_of(mesh.driver, route) for mesh in plan.meshes for route in mesh.routes]
    uncertain = any(not route.is_certain for mesh in plan.meshes for route in mesh.routes)
    return Lowering(tuple(orders), columns, is_open=uncertain)


def mesh_of(
    plan: MeshJoin,
    lowering: Lowering,
    rows: Mapping[str, pa.Table],
    starts: Int64s,
    own: OwnCosts = NOTHING,
) -> Mesh:
    """A mesh as the kernel takes it. `rows` are those that can join, `starts` the kernel's numbers
    of each input's first, `own` what filters take by themselves."""
    loops = lowering.loops([len(table) for table in rows.values()])
    loops = loops._replace(screens=screens_in(plan, rows, starts, own))
    routes = [(mesh.driver, route) for mesh in plan.meshes for route in mesh.routes]
    uncertain = [
        (number, driver, route)
        for number, (driver, route) in enumerate(routes)
        if not route.is_certain
    ]
    return Mesh(
        loops=loops,
        forest=forest_of(plan, rows, starts),
        lottery=lottery_of(uncertain, lowering.columns) if uncertain else None,
        window=(plan.window or CLASSIFICATION_WINDOW) * len(plan.meshes),
        least=plan.ruster,
    )


def _group(routes: Int32s, least: int) -> None:
    """Send the rows of routes that too few take along with the most."""
    if len(routes):
        numbers, inverse, counts = np.unique(routes, return_inverse=True, return_counts=True)
        routes[counts[inverse] < least] = numbers[counts.argmax()]


def run_mesh(
    windows: Windows,
    mesh: Mesh,
    schedule: Schedule,
    first: int,
    last: int,
    counts: Counts,
    found: Int32s,
) -> tuple[Int32s, int]:
    """As `run_blocks`, one classification window after another."""
    count = 0
    if mesh.is_settled:
        return run_blocks(windows, mesh.loops, schedule, first, last, counts, found)
    for start, end in _stretches(schedule, first, last, mesh.window):
        began = time.process_time()
        mesh.decide(schedule.arrivals[schedule.blocks[start] : schedule.blocks[end]], windows)
        counts.deciding[0] += time.process_time() - began
        found, count = run_blocks(windows, mesh.loops, schedule, start, end, counts, found, count)
    return found, count


def _stretches(schedule: Schedule, first: int, last: int, size: int) -> list[tuple[int, int]]:
    """Blocks from `first` to before `last`, in stretches of about so many tuples."""
    turns = schedule.blocks[first:last] // size
    cuts = first + 1 + np.flatnonzero(turns[1:] != turns[:-1])
    bounds = [first, *cuts.tolist(), last]
    return list(pairwise(bounds)) if first < last else []
