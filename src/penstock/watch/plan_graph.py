"""A plan as it runs: operators as nodes, tuples between them as edges, measured and estimated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

OFF = 2.0
"""A figure that is so many times too large or too small is marked."""

Kind = Literal["input", "filter", "probe", "join", "results"]


@dataclass(frozen=True)
class PlanNode:
    """An input, an operator of a route, an inner join that is kept, or the results."""

    id: str
    kind: Kind
    name: str
    level: int = 0
    """How many operators there are before it, on the longest way."""

    measured: float | None = None
    """Of an operator rows out for one in, of an input tuples/s, of a join tuples kept."""

    estimated: float | None = None
    seconds: float = 0.0
    """Seconds that it took in the batch, in all tasks."""

    load: float = 0.0
    """Its part of the seconds of all operators, 0 to 1."""

    is_off: bool = False
    """Whether it differs from its estimate by more than a factor of two."""

    formula: str = ""
    """Its figures in words, as they were worked out."""


@dataclass(frozen=True)
class PlanEdge:
    """Tuples for a second of event time that go from one node to the next."""

    start: str
    end: str
    measured: float | None = None
    estimated: float | None = None
    is_off: bool = False


@dataclass(frozen=True)
class PlanGraph:
    """The plan of the last batch."""

    plan: str
    batch: int | None
    nodes: tuple[PlanNode, ...] = ()
    edges: tuple[PlanEdge, ...] = ()
    filling: tuple[str, ...] = ()
    """Inner state that fills itself; another plan gives the results meanwhile."""

    text: str = ""
    """The query as it was written, without passwords."""


def off_by(measured: float | None, estimated: float | None) -> float:
    """How many times one is the other, at least 1; 1 where one of them is not known."""
    if measured is None or estimated is None or measured == estimated:
        return 1.0
    low, high = sorted((abs(measured), abs(estimated)))
    return high / low if low > 0.0 else float("inf")


def is_off(measured: float | None, estimated: float | None) -> bool:
    """Whether they differ by more than a factor of two."""
    return off_by(measured, estimated) > OFF
