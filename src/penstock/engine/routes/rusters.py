"""Rusters: the new tuples of a stream grouped by the routes that a mesh gives them (QM §5).

Every tuple is classified once, when it is packed. The filters that its route puts before all probes
are decided there and then; with what is left, each ruster goes its own way.

Over ROWS windows tuples wait for their numbers, and the plan may be another when they get them: so
they carry the number of their route with the stamp of the mesh that gave it. Those of another mesh,
or of none, go a way on which every filter that waits is checked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.routes.classifying import route_numbers
from penstock.engine.routes.screening import Screened, metered
from penstock.engine.rows.columns import ROUTE
from penstock.engine.wire.facts import OperatorFlow
from penstock.plan.mesh import DriverMesh, attributes_of
from penstock.query import Condition

Int64s = NDArray[np.int64]

_ROUTE_BITS = 16
_NO_ROUTE = -1


@dataclass(frozen=True)
class Way:
    """A route of a mesh in one order: the filters that come before its probes, and the ruster that
    takes it. Ways with the same probes share a ruster."""

    route: int
    leading: tuple[Condition, ...]
    ruster: int


@dataclass(frozen=True)
class Rusters:
    """How the tuples of one driver are sorted.

    `pools` are, by the number of a route, the ways that were drawn for it: each ruster takes one of
    them by chance. `window` tuples are looked at together, and those of a route are a ruster if
    they are at least `least`. `seed` is the number of the batch. `stamp` tells this mesh from
    others where tuples wait; those of others take the ruster `stale`.
    """

    mesh: DriverMesh
    ways: tuple[Way, ...]
    pools: tuple[tuple[int, ...], ...]
    window: int | None = None
    least: int = 1
    seed: int = 0
    stamp: int | None = None
    stale: int = 0

    @property
    def driver(self) -> str:
        return self.mesh.driver

    @property
    def attributes(self) -> tuple[str, ...]:
        return attributes_of(self.mesh)

    @property
    def are_several(self) -> bool:
        """Whether there are rusters to tell apart."""
        stale = set() if self.stamp is None else {self.stale}
        return len({way.ruster for way in self.ways} | stale) > 1

    def at(self, batch: int) -> Rusters:
        """The same for one batch."""
        return replace(self, seed=batch)

    def screen(self, rows: pa.RecordBatch, first: int = 0) -> Screened:
        """Classify tuples and decide the leading filters, each on what passed before."""
        numbers = self._grouped(route_numbers(self.mesh, rows))
        # Where tuples wait, all ways of a route have the same leading filters.
        ways = self._drawn(numbers, first) if self.stamp is None else self._firsts[numbers]
        passes = np.ones(len(rows), np.bool_)
        facts: list[OperatorFlow] = []
        for number, way in enumerate(self.ways):
            mine = ways == number if way.leading else passes[:0]
            if mine.any():
                left, flows = metered(self.driver, way.route, way.leading, rows, mine)
                facts += flows
                passes[mine & ~left] = False
        return Screened(passes, self._told(numbers, ways), tuple(facts))

    def released(self, rows: pa.RecordBatch, first: int) -> pa.RecordBatch:
        """Tuples that have waited, with their rusters instead of stamped routes."""
        if ROUTE not in rows.schema.names:
            return rows
        codes: Int64s = rows.column(ROUTE).to_numpy()
        rows = rows.drop_columns([ROUTE])
        if not self.are_several:
            return rows
        is_mine = codes >> _ROUTE_BITS == self.stamp
        ways = self._drawn(np.where(is_mine, codes & ((1 << _ROUTE_BITS) - 1), 0), first)
        rusters = np.where(is_mine, self._rusters[ways], self.stale)
        return rows.append_column(ROUTE, pa.array(rusters, pa.int16()))

    @property
    def _firsts(self) -> Int64s:
        return np.array([pool[0] for pool in self.pools])

    @property
    def _rusters(self) -> Int64s:
        return np.array([way.ruster for way in self.ways])

    def _told(self, numbers: Int64s, ways: Int64s) -> NDArray[np.int16] | Int64s | None:
        if self.stamp is not None:
            return numbers | (self.stamp << _ROUTE_BITS)
        return self._rusters[ways].astype(np.int16) if self.are_several else None

    def _windows(self, count: int) -> Int64s:
        """The number of each tuple's classification window."""
        return np.arange(count) // (self.window or max(count, 1))

    def _grouped(self, numbers: Int64s) -> Int64s:
        """The routes, with those of too few tuples of a window changed to what the most take."""
        if self.least == 1 or not len(numbers):
            return numbers
        windows, routes = self._windows(len(numbers)), len(self.pools)
        size = (int(windows[-1]) + 1) * routes
        counts = np.bincount(windows * routes + numbers, minlength=size).reshape(-1, routes)
        is_few = counts[windows, numbers] < self.least
        return np.where(is_few, counts.argmax(axis=1)[windows], numbers)

    def _drawn(self, numbers: Int64s, first: int) -> Int64s:
        """The way of each tuple: of a window, all that take the same route take the same way."""
        ways, windows = self._firsts[numbers], self._windows(len(numbers))
        for route, pool in enumerate(self.pools):
            if len(pool) > 1 and len(numbers):
                seed = (self.seed, route, first % (1 << 63))
                picks = np.random.default_rng(seed).integers(len(pool), size=int(windows[-1]) + 1)
                mine = numbers == route
                ways[mine] = np.array(pool)[picks[windows[mine]]]
        return ways


def with_routes(rows: pa.RecordBatch, are_wanted: bool) -> pa.RecordBatch:
    """Tuples that wait with the column of their routes, if it is wanted, and without it else."""
    if are_wanted == (ROUTE in rows.schema.names):
        return rows
    if not are_wanted:
        return rows.drop_columns([ROUTE])
    # Where packing puts it: behind the event time.
    return rows.add_column(1, ROUTE, pa.array(np.full(len(rows), _NO_ROUTE, np.int64)))


def ruster(rows: pa.RecordBatch, number: int | None) -> pa.RecordBatch:
    """The tuples of one ruster; all of them where there is none."""
    if number is None:
        return rows
    mine = rows.column(ROUTE).to_numpy() == number
    return rows.filter(pa.array(mine)).drop_columns([ROUTE])
