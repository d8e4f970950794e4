"""QM §6.1: ten streams joined on one key, and the rivals' plans for them."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import exp, inf
from pathlib import Path

import pyarrow as pa

from penstock.bench.mesh.joins import rivals_by
from penstock.bench.mesh.joins_data import JoinData, uniform
from penstock.experiments.frame.experiment import Size
from penstock.lab.experiment import contents_of, read_all
from penstock.plan.plan import Plan
from penstock.query import Query
from penstock.sampling.analyze import analyze
from penstock.stats.guess import complete
from penstock.stats.known import Known

MESH, SINGLE, EDDY, BATCHED = "mesh", "single", "eddy", "eddy_batched"
NAMES = {
    MESH: "query mesh",
    SINGLE: "single plan",
    EDDY: "eddy",
    BATCHED: "eddy, batches of 100",
}
"""The rivals as charts and claims name them."""
WINDOW = 5

_ZERO = _ONE = exp(-1.0)
_PARTS = (_ZERO, _ONE, 1.0 - _ZERO - _ONE)
"""How frequent the values 0, 1, and 2 or more are with Poisson’s λ = 1 (QM Table 2): the three
partitions of a stream (QM Table 3)."""


@dataclass(frozen=True)
class Contest:
    """A query’s tuples, what is known about them, and the rivals’ plans."""

    known: Known
    plans: Mapping[str, Plan]
    tuples: Mapping[str, pa.Table]


def poisson(rate: int, seconds: int) -> JoinData:
    """Streams whose partitions are as frequent as Poisson’s values, each in another stream.

    A tuple finds one match in a window on the geometric mean, so that there are about as many
    results as tuples: the paper does not say how many there are.
    """
    mean = (_PARTS[0] * _PARTS[1] * _PARTS[2]) ** (1 / 3)
    found = (_PARTS[0] / mean, _PARTS[1] / mean, _PARTS[2] / mean)
    return JoinData("Poisson", found, rate, WINDOW, seconds)


def both(size: Size) -> tuple[JoinData, JoinData]:
    """The skewed and the uniform streams."""
    rate, seconds = (1_000, 20) if size == "quick" else (4_000, 30)
    return poisson(rate, seconds), uniform(rate, WINDOW, seconds)


def contest_of(data: JoinData, *, is_trained: bool = True) -> Contest:
    """The rivals on synthetic streams."""
    with tempfile.TemporaryDirectory(prefix="penstock-lab-") as folder:
        data.write(Path(folder))
        return prepared(data.query(Path(folder)), is_trained=is_trained)


def prepared(query: Query, *, is_trained: bool = True) -> Contest:
    """Analyze the streams of a query, plan for each rival, and read all tuples.

    If it is not trained, the mesh has one route a stream.
    """
    known = complete(query, analyze(query, seconds=inf))
    known = known if is_trained else replace(known, training={})
    plans = rivals_by(known)
    return Contest(known, plans, read_all(query, contents_of(plans[EDDY])))
