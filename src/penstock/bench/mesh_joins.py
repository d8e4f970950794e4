"""The join half of the mesh benchmark: a ten-way join, eagerly in the laboratory.

Rivals are the planner's best multi-way plan, its mesh, and eddies that decide for each tuple and for
a hundred at once. All are planned or learn from the same streams and must give the same results.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.bench.mesh_joins_data import JoinData, skewed, uniform
from penstock.engine.local.apparatus import execute, set_up, tally
from penstock.engine.local.experiment import contents_of, read_all
from penstock.engine.local.schedule import Eager
from penstock.errors import PenstockError
from penstock.monitor.analyze import analyze
from penstock.optimize.planner import Wishes, decide
from penstock.plan.mesh import Eddy, MeshJoin
from penstock.plan.plan import Plan
from penstock.query import Query
from penstock.stats.guess import complete

Progress = Callable[[str], None]
"""Is told what is done next."""

RIVALS = ("mesh", "single", "eddy", "eddy_batched")
BATCH = 100
"""Tuples for which the batched eddy decides at once (QM §6.2)."""
_SLICE = 10_000
"""Results are taken off the kernel after so many tuples, as a sink would."""


@dataclass(frozen=True)
class JoinSize:
    """Tuples/s of each stream, seconds of a window and of the streams, and how often all run."""

    rate: int = 5_000
    window: int = 10
    seconds: int = 30
    repeats: int = 5

    def data(self) -> tuple[JoinData, JoinData]:
        """The skewed and the uniform streams."""
        figures = (self.rate, self.window, self.seconds)
        return skewed(*figures), uniform(*figures)


FULL = JoinSize()
QUICK = JoinSize(rate=4_000, window=5, seconds=15, repeats=3)


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
    """The two contests of the join.

    `eddy_overhead` is how much longer than the single plan the eddy takes for uniform data: above
    0.25 it is no fair rival and the comparison is void.
    """

    skewed: Contest
    uniform: Contest

    @property
    def eddy_overhead(self) -> float:
        return self.uniform.rate("single") / self.uniform.rate("eddy") - 1.0


def run_joins(size: JoinSize, progress: Progress) -> JoinFigures:
    """Both contests, one after the other."""
    return JoinFigures(*(contest(data, size.repeats, progress) for data in size.data()))


def contest(data: JoinData, repeats: int, progress: Progress) -> Contest:
    """Plan, and let the rivals run in turn; a first round, in which code is loaded, is not counted."""
    progress(f"planning the join of {data.name} streams")
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        data.write(Path(folder))
        query = data.query(Path(folder))
        plans = _plans(query)
        tuples = read_all(query, contents_of(plans["eddy"]))
    runs: dict[str, list[JoinRun]] = {rival: [] for rival in RIVALS}
    for turn in range(repeats + 1):
        progress(f"joining {data.name} streams, round {turn} of {repeats}")
        # Nobody always runs first, or always after the same rival.
        for rival in Random(turn).sample(RIVALS, len(RIVALS)):
            runs[rival].append(_run(plans[rival], tuples))
    _check(data, runs)
    mesh = plans["mesh"]
    routes = tuple(len(m.routes) for m in mesh.meshes) if isinstance(mesh, MeshJoin) else ()
    return Contest(data.tuples, {rival: tuple(own[1:]) for rival, own in runs.items()}, routes)


def _plans(query: Query) -> dict[str, Plan]:
    known = complete(query, analyze(query))
    return {
        "single": decide(known, Wishes(kinds=frozenset({"multiway"}), engine="laboratory")).plan,
        "mesh": decide(known, Wishes(kinds=frozenset({"mesh"}), engine="laboratory")).plan,
        "eddy": Eddy(query),
        "eddy_batched": Eddy(query, batch=BATCH),
    }


def _run(plan: Plan, tuples: Mapping[str, pa.Table]) -> JoinRun:
    apparatus = set_up(plan, tuples, Eager(), expiration=0, buckets={})
    counts = tally(apparatus, with_ledger=False)
    blocks, seconds, checksum = len(apparatus.ready), 0.0, 0
    for first in range(0, blocks, _SLICE):
        started = time.process_time()
        found = execute(apparatus, counts, first, min(first + _SLICE, blocks))
        seconds += time.process_time() - started
        checksum = (checksum + _checksum(found)) % 2**64
    work = counts.total
    return JoinRun(seconds, float(counts.deciding[0]), work.compares, work.results, checksum)


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
