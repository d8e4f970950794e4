"""The join half of the mesh benchmark: a ten-way join, eagerly in the laboratory.

Rivals are the planner's best multi-way plan, its mesh, and eddies that decide for each partial
result and for a hundred tuples at once. All are planned by, or learn from, the same streams, and
must give the same results.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.bench.mesh.joins_data import JoinData, skewed, uniform
from penstock.errors import PenstockError
from penstock.lab.apparatus import execute, no_counts, set_up, total_work
from penstock.lab.experiment import contents_of, read_all
from penstock.lab.schedule import Eager
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.mesh import Eddy, MeshJoin
from penstock.plan.plan import Plan
from penstock.query import Query
from penstock.sampling.analyze import analyze
from penstock.stats.guess import complete
from penstock.stats.known import Known

Progress = Callable[[str], None]
"""Is told what is done next."""

RIVALS = ("mesh", "single", "eddy", "eddy_batched")
BATCH = 100
"""Tuples for which the batched eddy decides at once (QM §6.2)."""
_SLICE = 10_000
"""Results are taken off the kernel after so many tuples, as a sink would."""
_TURN = 100_000
"""After so many tuples it is the next rival's turn: what else the machine does then hits all alike,
and the tenth of a second is long enough for caches to be filled."""


@dataclass(frozen=True)
class JoinSize:
    """Tuples/s of each stream, seconds of a window and of the streams, and how often all run."""

    rate: int = 4_000
    window: int = 5
    seconds: int = 30
    repeats: int = 5

    def data(self) -> tuple[JoinData, JoinData]:
        """The skewed and the uniform streams."""
        figures = (self.rate, self.window, self.seconds)
        return skewed(*figures), uniform(*figures)


FULL = JoinSize()
QUICK = JoinSize(seconds=15, repeats=3)


@dataclass(frozen=True)
class JoinRun:
    """One run: CPU-seconds in all and of deciding about routes, rows looked at, results, and a
    checksum of them that does not depend on their order."""

    seconds: float
    deciding: float
    compares: int
    results: int
    checksum: int


@dataclass(frozen=True)
class Contest:
    """The runs of all rivals on one kind of data, and how many routes each stream's mesh has."""

    tuples: int
    runs: Mapping[str, tuple[JoinRun, ...]]
    routes: tuple[int, ...]

    @property
    def results(self) -> int:
        return self.runs["mesh"][0].results

    def rate(self, rival: str) -> float:
        """Results for a busy second: the median of the runs."""
        return self.results / statistics.median(run.seconds for run in self.runs[rival])

    def ratio(self, rival: str) -> float:
        """How many times the output rate of a rival the mesh has."""
        return self.rate("mesh") / self.rate(rival)

    @property
    def classification(self) -> float:
        """The part of its time in which the mesh classifies: the median of the runs."""
        return statistics.median(run.deciding / run.seconds for run in self.runs["mesh"])


@dataclass(frozen=True)
class JoinFigures:
    """The two contests of the join."""

    skewed: Contest
    uniform: Contest


def run_joins(size: JoinSize, progress: Progress) -> JoinFigures:
    """Both contests, one after the other."""
    return JoinFigures(*(contest(data, size.repeats, progress) for data in size.data()))


def contest(data: JoinData, repeats: int, progress: Progress) -> Contest:
    """Plan, and let the rivals run by turns; a first round, which loads code, is not counted."""
    progress(f"planning the join of {data.name} streams")
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        data.write(Path(folder))
        query = data.query(Path(folder))
        plans = plans_of(query)
        tuples = read_all(query, contents_of(plans["eddy"]))
    runs: dict[str, list[JoinRun]] = {rival: [] for rival in RIVALS}
    for turn in range(repeats + 1):
        progress(f"joining {data.name} streams, round {turn} of {repeats}")
        for rival, run in race(plans, tuples, Random(turn)).items():
            runs[rival].append(run)
    _check(data, runs)
    mesh = plans["mesh"]
    routes = tuple(len(m.routes) for m in mesh.meshes) if isinstance(mesh, MeshJoin) else ()
    return Contest(data.tuples, {rival: tuple(own[1:]) for rival, own in runs.items()}, routes)


def plans_of(query: Query) -> dict[str, Plan]:
    """The plan of each rival, by all that the streams tell."""
    return rivals_by(complete(query, analyze(query, seconds=inf)))


def rivals_by(known: Known) -> dict[str, Plan]:
    """The plan of each rival, by what is known."""
    return {
        "single": decide(
            known, PlanOptions(kinds=frozenset({"multiway"}), engine="laboratory")
        ).plan,
        "mesh": decide(known, PlanOptions(kinds=frozenset({"mesh"}), engine="laboratory")).plan,
        "eddy": Eddy(known.query),
        "eddy_batched": Eddy(known.query, batch=BATCH),
    }


def race(
    plans: Mapping[str, Plan], tuples: Mapping[str, pa.Table], random: Random
) -> dict[str, JoinRun]:
    """A run of each plan, turn by turn."""
    racers = {rival: _Racer(plan, tuples) for rival, plan in plans.items()}
    for start in range(0, racers["mesh"].blocks, _TURN):
        # Nobody is always first, or always after the same rival.
        for rival in random.sample(RIVALS, len(RIVALS)):
            racers[rival].take_turn(start)
    return {rival: racer.run() for rival, racer in racers.items()}


class _Racer:
    """A plan under way."""

    def __init__(self, plan: Plan, tuples: Mapping[str, pa.Table]):
        self._apparatus = set_up(plan, tuples, Eager(), expiration=0, buckets={})
        self._counts = no_counts(self._apparatus, with_ledger=False)
        self._seconds, self._checksum = 0.0, 0
        self.blocks = len(self._apparatus.ready)

    def take_turn(self, start: int) -> None:
        """Join the tuples of one turn."""
        end = min(start + _TURN, self.blocks)
        for first in range(start, end, _SLICE):
            began = time.process_time()
            found = execute(self._apparatus, self._counts, first, min(first + _SLICE, end))
            self._seconds += time.process_time() - began
            self._checksum = (self._checksum + _checksum(found)) % 2**64

    def run(self) -> JoinRun:
        """The seconds that it took, its work and its results."""
        work, deciding = total_work(self._counts), float(self._counts.deciding[0])
        return JoinRun(self._seconds, deciding, work.compares, work.results, self._checksum)


def _checksum(found: NDArray[np.int32]) -> int:
    """A sum over the results of a hash of each: of its rows, which all plans number alike."""
    mixed = np.zeros(len(found), np.uint64)
    for rows in found.T:
        mixed = (mixed ^ rows.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return int(mixed.sum(dtype=np.uint64))


def _check(data: JoinData, runs: Mapping[str, list[JoinRun]]) -> None:
    given = {(run.results, run.checksum) for own in runs.values() for run in own}
    if len(given) > 1:
        counts = {rival: own[0].results for rival, own in runs.items()}
        raise PenstockError(f"the rivals gave different results for {data.name} streams: {counts}")
