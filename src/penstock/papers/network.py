"""A tree as a network through which tuples flow, which `fluid` gives the curve of."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from penstock.papers.curve import Floats


@dataclass(frozen=True)
class Source:
    """A stream of `rate` tuples/s that ends after `cardinality` of them.

    Its tuples live for `extent` seconds and while they are among the last `rows`.
    """

    rate: float
    cardinality: float = math.inf
    extent: float = math.inf
    rows: float = math.inf

    @property
    def end(self) -> float:
        """When the stream has run dry, seconds."""
        return self.cardinality / self.rate if self.rate else 0.0

    @property
    def is_windowed(self) -> bool:
        return math.isfinite(self.extent) or math.isfinite(self.rows)

    def arrived(self, time: Floats) -> Floats:
        """Tuples that have arrived by a time."""
        return np.clip(self.rate * np.maximum(time, 0.0), 0.0, self.cardinality)

    def dead(self, time: Floats) -> Floats:
        """Tuples that have arrived and died by a time."""
        outlived = self.arrived(time - self.extent)
        displaced = np.maximum(self.arrived(time) - self.rows, 0.0)
        return np.maximum(outlived, displaced)

    def rate_at(self, time: Floats) -> Floats:
        """Tuples/s at a time."""
        return np.where(time < self.end, self.rate, 0.0)

    def death(self, time: Floats) -> Floats:
        """The latest that a tuple which arrived at a time can die."""
        seconds = self.rows / self.rate if self.rate else math.inf
        displaced = np.where(time + seconds < self.end, time + seconds, math.inf)
        return np.minimum(time + self.extent, displaced)


@dataclass(frozen=True)
class Table:
    """Rows that are there from the beginning, and cause no work."""

    rows: float


@dataclass(frozen=True)
class Filter:
    """A predicate on what one operator gives; `cost` is seconds for one evaluation."""

    input: Node
    selectivity: float
    cost: float = 0.0


@dataclass(frozen=True)
class JoinCosts:
    """Seconds for one arrival at a join from either side, and for one candidate looked at.

    Candidates are all partners that are alive (nested loops), or those that match.
    """

    left: float = 0.0
    right: float = 0.0
    compare: float = 0.0
    looks_at_all: bool = False


@dataclass(frozen=True)
class Join:
    """A symmetric join; `selectivity` is the fraction of pairs of both sides that match."""

    left: Node
    right: Node
    selectivity: float
    costs: JoinCosts = JoinCosts()


Node = Source | Table | Filter | Join


def nested_loops(*, move: float = 0.0, compare: float = 0.0, predicate: float = 0.0) -> JoinCosts:
    """Reference: arrivals that are compared with all that is alive there (V&N Table 3)."""
    arrival = move + predicate
    return JoinCosts(arrival, arrival, compare, looks_at_all=True)


def symmetric_hash(
    *,
    move: float = 0.0,
    hashing: float = 0.0,
    probe: float = 0.0,
    compare: float = 0.0,
    predicate: float = 0.0,
) -> JoinCosts:
    """Reference: arrivals that are put in their table and looked up in the other (V&N Table 3).

    `compare` is for each match that the look-up finds.
    """
    arrival = move + hashing + probe + predicate
    return JoinCosts(arrival, arrival, compare)


def sources(node: Node) -> tuple[Source, ...]:
    """The streams under a node, from left to right."""
    match node:
        case Source():
            return (node,)
        case Table():
            return ()
        case Filter(input=inner):
            return sources(inner)
        case Join(left=left, right=right):
            return sources(left) + sources(right)


def yield_of(node: Node) -> float:
    """Results for each combination of the streams under a node whose members meet alive."""
    match node:
        case Source():
            return 1.0
        case Table(rows=rows):
            return rows
        case Filter(input=inner, selectivity=selectivity):
            return selectivity * yield_of(inner)
        case Join(left=left, right=right, selectivity=selectivity):
            return selectivity * yield_of(left) * yield_of(right)
