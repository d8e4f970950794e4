"""A plan as it runs: operators as nodes, tuples between them as edges, measured and estimated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

OFF = 2.0
"""A figure that is so many times too large or too small is marked."""

Kind = Literal["input", "filter", "probe", "join", "results"]


Span = tuple[int, int]
"""From which character of a text to which; the end is exclusive."""


@dataclass(frozen=True)
class CostTerm:
    """A kind of work: `count` times a second, `unit` seconds each, `seconds` a second in all.

    What is of no kind has neither count nor unit.
    """

    what: str
    count: float | None
    unit: float | None
    seconds: float


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

    driver: str = ""
    """Of an operator: whose tuples it is applied to, and the number of their route."""

    route: int = 0
    members: tuple[str, ...] = ()
    """The inputs of which its rows have tuples."""

    spans: tuple[Span, ...] = ()
    """Where it stands in the text of the query."""

    terms: tuple[CostTerm, ...] = ()
    """What it takes, by the planner's model and the figures of now."""

    @property
    def place(self) -> tuple[str, int, str]:
        """Its driver and route, and what it is applied to; an input drives itself."""
        match self.kind:
            case "input":
                return self.name, 0, ""
            case "probe":
                return self.driver, self.route, self.name
        return "", 0, self.id


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

    terms: tuple[CostTerm, ...] = ()
    """What all of it takes, by the planner's model and the figures of now."""

    since: int | None = None
    """The first batch that followed it."""

    better: str | None = None
    """The best plan by now, if that is another."""

    standing: str = ""
    """Both in words, with the reason why the better one is not followed."""


def off_by(measured: float | None, estimated: float | None) -> float:
    """How many times one is the other, at least 1; 1 where one of them is not known."""
    if measured is None or estimated is None or measured == estimated:
        return 1.0
    low, high = sorted((abs(measured), abs(estimated)))
    return high / low if low > 0.0 else float("inf")


def is_off(measured: float | None, estimated: float | None) -> bool:
    """Whether they differ by more than a factor of two."""
    return off_by(measured, estimated) > OFF
