"""An eddy with content-based routing (Bizarro et al.), as Query Mesh has its rival (QM §2, §6).

A small part of the tuples is routed at random and profiled. Every so often the router learns from
the profile by which attribute of the driving tuple to judge each operator, and how many rows to
expect of it. All other tuples go, at each step, to the operator with the fewest expected rows.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.errors import PlanError
from penstock.lab.kernels.eddy_loop import Hand, Router, empty_hand, run_eddy
from penstock.lab.kernels.nested import Counts, Schedule, Windows, arriving
from penstock.lab.kernels.profile_loop import BUCKETS
from penstock.lab.kernels.ways import Ways
from penstock.lab.layout.columns import Columns
from penstock.lab.mesh.join_profile import JoinProfile, profile_of
from penstock.lab.mesh.ways import most_checks, ways_of
from penstock.plan.mesh import Eddy

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]

PROFILED = 0.015
"""The part of the tuples that go somewhere at random first, to learn from. With twice as many the
eddy finds no better orders and takes a tenth longer on uniform data."""
REFRESH = 10_000
"""The tuples of a stream between two refreshes, on average over all streams: with some hundred
profiled tuples to remember, a third of them are new by then ..."""
FIRST_REFRESH = 500
"""... and before the first one. Each comes after twice as many as the last, up to `REFRESH`."""
LEARNING = 0.2
"""The part that is profiled until a stream's profile is full."""


@dataclass
class JoinEddy:
    """An eddy as the kernel takes it, and what it has learned. The next refresh is before block
    `until`, and another one `interval` tuples of a stream later."""

    ways: Ways
    hand: Hand
    batch: int
    router: Router
    profiles: tuple[JoinProfile, ...]
    random: np.random.Generator
    interval: int
    until: int = 0

    def refresh(self, windows: Windows, schedule: Schedule) -> None:
        """Learn from the profile so far, and look at the rows that come until the next refresh."""
        start, inputs = self.until, len(windows.head)
        position = schedule.blocks[start] + self.interval * len(self.profiles)
        self.until = max(start + 1, int(np.searchsorted(schedule.blocks[:-1], position)))
        self.interval = min(2 * self.interval, REFRESH)
        coming = arriving(schedule, start, self.until, inputs)
        self._gather()
        drawn = []
        for profile in self.profiles:
            first = int(windows.tail[profile.driver])
            end = first + int(coming[profile.driver])
            profile.teach(self.router)
            profile.look_at(first, end, self.router)
            part = PROFILED if profile.is_full else LEARNING
            drawn.append(first + np.flatnonzero(self.random.random(end - first) < part))
        rows = np.concatenate(drawn)
        counts = np.zeros((2, len(rows), inputs), np.int32)
        self.router.slots[rows] = np.arange(len(rows))
        self.router = self.router._replace(drawn=rows, tried=counts[0], matched=counts[1])

    def _gather(self) -> None:
        """Take the tuples that were profiled since the last refresh into the profile."""
        router = self.router
        for profile in self.profiles:
            end = profile.start + profile.values.shape[1]
            mine = slice(*np.searchsorted(router.drawn, [profile.start, end]))
            profile.add(router.drawn[mine], router.tried[mine], router.matched[mine])


def join_eddy_of(
    plan: Eddy, columns: Columns, rows: Mapping[str, pa.Table], starts: Int64s
) -> JoinEddy:
    """An eddy that has learned nothing yet. `rows` are those that can join, `starts` the kernel's
    numbers of each input's first."""
    if plan.batch < 1:
        raise PlanError(
            f"an eddy cannot decide for {plan.batch} tuples at once",
            hint="1 is a decision for every partial result",
        )
    aliases, ways = columns.aliases, ways_of(columns)
    profiles = tuple(
        profile_of(number, int(starts[number]), len(aliases), rows[alias])
        for number, alias in enumerate(aliases)
        if not plan.query.inputs[number].is_table
    )
    total, most = sum(map(len, rows.values())), max(len(p.values) for p in profiles)
    hand = empty_hand(len(aliases), most_checks(ways), plan.batch)
    router = _ignorant(total, len(aliases), max(most, 1))
    return JoinEddy(
        ways, hand, plan.batch, router, profiles, np.random.default_rng(0), FIRST_REFRESH
    )


def run_join_eddy(
    windows: Windows,
    eddy: JoinEddy,
    schedule: Schedule,
    first: int,
    last: int,
    counts: Counts,
    found: Int32s,
) -> tuple[Int32s, int]:
    """As `run_blocks`, from refresh to refresh."""
    count, start = 0, first
    while start < last:
        if start == eddy.until:
            began = time.process_time()
            eddy.refresh(windows, schedule)
            counts.deciding[0] += time.process_time() - began
        end = min(last, eddy.until)
        found, count = run_eddy(
            windows,
            eddy.ways,
            eddy.router,
            eddy.hand,
            eddy.batch,
            schedule,
            start,
            end,
            counts,
            found,
            count,
        )
        start = end
    return found, count


def _ignorant(rows: int, inputs: int, attributes: int) -> Router:
    """A router that knows nothing: it takes the order of FROM."""
    counts = np.zeros((0, inputs), np.int32)
    return Router(
        codes=np.zeros((rows, attributes), np.uint8),
        attributes=np.zeros((inputs, inputs), np.int64),
        expected=np.zeros((inputs, inputs, BUCKETS + 1)),
        known=np.zeros(inputs, np.int64),
        is_blind=np.ones(inputs, np.bool_),
        slots=np.full(rows, -1, np.int32),
        drawn=np.empty(0, np.int64),
        tried=counts,
        matched=counts,
    )
