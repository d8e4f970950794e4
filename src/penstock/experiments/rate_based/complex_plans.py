"""V&N §5: their streams A to E, the plans of Fig. 6 and 11, foreseen and run."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.experiments.rate_based.staged import Stage, moments
from penstock.experiments.setting.streams import Stream, tuples_of
from penstock.papers.curve import Curve
from penstock.papers.fluid import curve
from penstock.papers.network import Join, Node, Source, symmetric_hash

Floats = NDArray[np.float64]

HANDLING = 0.0035
"""Seconds for an arrival at a join but for the expensive predicate. The paper does not give it;
with this, the two plans of the three-way experiment cross near the 2,000 results of its Fig. 9."""
EXPENSIVE = HANDLING + 0.005


@dataclass(frozen=True)
class Streams:
    """Streams by name: tuples in all and milliseconds between two; and what parts of pairs match,
    by the two streams."""

    sizes: dict[str, tuple[int, float]]
    matches: dict[str, float]

    def source(self, name: str) -> Source:
        count, delay = self.sizes[name]
        return Source(1000 / delay, count)

    def stream(self, name: str) -> Stream:
        count, delay = self.sizes[name]
        values = {edge: round(1 / f) for edge, f in self.matches.items() if name in edge}
        return Stream(1000 / delay, values, count, poisson=True)


THREE = Streams(
    {"A": (5_000, 20.0), "B": (10_000, 2.0), "C": (20_000, 10.0)},
    {edge: f * math.sqrt(90_000 / 1e7) for edge, f in {"AB": 2e-3, "AC": 5e-3}.items()},
)
"""As printed there would be 10⁷ results; Fig. 7 shows 90,000."""
FIVE = Streams(
    {
        "A": (5_000, 20.0),
        "B": (10_000, 10.0),
        "C": (20_000, 15.0),
        "D": (50_000, 5.0),
        "E": (100_000, 2.0),
    },
    {"AB": 4e-4, "AC": 1e-3, "BD": 2e-5, "DE": 2e-6},
)
"""A fifth of the printed selectivities. As printed there would be 5·10⁷ results; a tenth, as in the
three-way case, gives 5,000, and the paper speaks of the first 20,000. A fifth gives 80,000."""


def stage(left: Stage | str, right: Stage | str, edge: str) -> Stage:
    """A join; the predicate between A and C is the expensive one."""
    return Stage(left, right, edge, EXPENSIVE if edge == "AC" else HANDLING)


THREE_WAY = {
    "(A⋈B)⋈C": stage(stage("A", "B", "AB"), "C", "AC"),
    "(A⋈C)⋈B": stage(stage("A", "C", "AC"), "B", "AB"),
}
FIVE_WAY = {
    "Left Deep": stage(stage(stage(stage("A", "B", "AB"), "C", "AC"), "D", "BD"), "E", "DE"),
    "Fast Leaves": stage(stage(stage("D", "E", "DE"), "B", "BD"), stage("A", "C", "AC"), "AB"),
    "Evenly Spread": stage(stage(stage("B", "D", "BD"), "E", "DE"), stage("A", "C", "AC"), "AB"),
}
"""Fig. 11: the fastest streams at the top, at the leaves, and in the middle."""


def foreseen(plan: Stage, streams: Streams) -> Curve:
    """The plan's results over time by the fluid model."""
    return curve(_network(plan, streams), math.inf)


def _network(node: Stage | str, streams: Streams) -> Node:
    if isinstance(node, str):
        return streams.source(node)
    left, right = _network(node.left, streams), _network(node.right, streams)
    return Join(left, right, streams.matches[node.column], symmetric_hash(move=node.cost))


def measured(plan: Stage, streams: Streams, seed: int) -> Floats:
    """When each result of a run of the plan was there, in seconds."""
    drawn = {name: streams.stream(name) for name in streams.sizes}
    return moments(plan, tuples_of(drawn, math.inf, seed))
