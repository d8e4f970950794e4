"""Meshes by training sets of a given size: each training tuple stands for sampled ones like it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.rows.columns import TS
from penstock.experiments.query_mesh.ten_way import WINDOW, Contest
from penstock.optimize.mesh.operators import figures_for
from penstock.optimize.mesh.problem import MeshProblem
from penstock.optimize.mesh.search import Stop, search
from penstock.optimize.mesh.space import MeshSpace
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.mesh import MeshJoin
from penstock.plan.mesh_search import MeshSearch, Start, Strategy
from penstock.stats.known import Known
from penstock.stats.training import Training

Int64s = NDArray[np.int64]

_ATTRIBUTES = ("k", "sector", "x", "y", "z")
_SPAN = WINDOW * 1_000_000
ALIKE = 20
"""Sampled tuples that a training tuple stands for: one alone knows the matches of one key only."""
PLATEAU = 20
"""Neighbours in a row that are no better, after which a search from one start ends."""


@dataclass(frozen=True)
class Effort:
    """What a search took: classifiers grown, and parts that a best route was found for."""

    trees: int
    parts: int


def train(contest: Contest, size: int, seed: int) -> dict[str, Training]:
    """So many training tuples of every stream, from when all windows are full."""
    windows = {alias: _sorted(rows) for alias, rows in contest.tuples.items()}
    draw = np.random.default_rng([seed, size])
    return {
        alias: _training(alias, _drawn(rows, ALIKE * size, draw), windows)
        for alias, rows in contest.tuples.items()
    }


def mesh_by(known: Known, training: Mapping[str, Training], how: MeshSearch) -> MeshJoin:
    """The mesh that the planner finds with this training."""
    options = PlanOptions(kinds=frozenset({"mesh"}), engine="laboratory", mesh=how)
    plan = decide(replace(known, training=dict(training)), options).plan
    assert isinstance(plan, MeshJoin)
    return plan


def effort(known: Known, training: Training, strategy: Strategy, start: Start) -> Effort:
    """What one round of a search takes that nothing but a plateau ends."""
    figures = figures_for(Problem(known.query, known), training, 0.0)
    space = MeshSpace(MeshProblem(training, figures))
    far = 10**6
    stop = Stop(rounds=1, plateau=PLATEAU, trees=far, parts=far, neighbours=far)
    search(space, strategy, start, stop, seed=0)
    return Effort(space.trees, space.parts)


def _drawn(rows: pa.Table, size: int, draw: np.random.Generator) -> pa.Table:
    times = rows[TS].to_numpy()
    full = np.flatnonzero(times >= times[0] + _SPAN)
    drawn = rows.take(pa.array(draw.choice(full, size, replace=False)))
    return drawn.sort_by([("sector", "ascending"), ("x", "ascending")])


def _training(driver: str, drawn: pa.Table, windows: Mapping[str, Int64s]) -> Training:
    others = tuple(alias for alias in windows if alias != driver)
    found = np.column_stack([matches(drawn, windows[alias]) for alias in others])
    # Tuples next to each other are alike: of each group, the middle one’s values, the mean yields.
    yields = found.reshape(-1, ALIKE, len(others)).mean(axis=1)
    middles = drawn.take(pa.array(np.arange(ALIKE // 2, len(drawn), ALIKE)))
    values = zip(*(middles[name].to_pylist() for name in _ATTRIBUTES), strict=True)
    return Training(
        driver=driver,
        attributes=_ATTRIBUTES,
        values=tuple(tuple(map(float, row)) for row in values),
        weights=(1.0 / len(middles),) * len(middles),
        operators=others,
        yields=tuple(tuple(map(float, row)) for row in yields),
    )


def matches(drawn: pa.Table, window: Int64s) -> Int64s:
    """How many rows of a window each tuple finds when it comes."""
    keys, times = drawn["k"].to_numpy(), drawn[TS].to_numpy()
    until = np.searchsorted(window, _code(keys, times), side="right")
    since = np.searchsorted(window, _code(keys, times - _SPAN), side="right")
    return np.asarray(until - since, np.int64)


def _sorted(rows: pa.Table) -> Int64s:
    return np.sort(_code(rows["k"].to_numpy(), rows[TS].to_numpy()))


def _code(keys: Int64s, times: Int64s) -> Int64s:
    """Keys and times as one number, in the order of both."""
    return np.asarray(keys * 10**9 + times, np.int64)
