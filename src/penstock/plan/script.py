"""The plans of a script, and what they take together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.plan.decision import Decision
from penstock.plan.plan import Plan
from penstock.query.script import Script


@dataclass(frozen=True)
class Sharing:
    """Queries that take the combinations of one join, and what that takes of each second: all of
    them `together`, and each by itself, `apart`."""

    maker: str
    takers: tuple[str, ...]
    together: float
    apart: float

    @property
    def saves(self) -> float:
        """The part of the work that is saved; below zero if there is more of it."""
        return 1.0 - self.together / self.apart if self.apart else 0.0


@dataclass(frozen=True)
class ReadOnce:
    """A source that is read once for several queries, and the seconds a second that this saves."""

    source: str
    queries: tuple[str, ...]
    saves: float


@dataclass(frozen=True)
class PlannedScript:
    """A script with a decision for each of its queries, by name and in its order.

    Where queries share a join, the script has one more member for it, which they take from.
    """

    script: Script
    decisions: Mapping[str, Decision]
    capacity: float
    """The CPU-seconds a second that there are for all of them."""
    sharing: tuple[Sharing, ...] = ()
    reading: tuple[ReadOnce, ...] = ()
    """The sources that several of them read; what that saves is taken off their total."""

    @property
    def plans(self) -> dict[str, Plan]:
        return {name: decision.plan for name, decision in self.decisions.items()}

    @property
    def utilization(self) -> float:
        """Seconds of work a second of all queries, each source being read once."""
        every = sum(each.chosen.estimate.utilization for each in self.decisions.values())
        return every - self.saved_reading

    @property
    def needed(self) -> float:
        """The same without drop boxes."""
        every = sum(each.chosen.estimate.needed for each in self.decisions.values())
        return every - self.saved_reading

    @property
    def saved_reading(self) -> float:
        """Seconds a second that queries would read for themselves what is read for all of them."""
        return sum(each.saves for each in self.reading)

    @property
    def state(self) -> float:
        """Tuples in the windows of all queries."""
        return sum(each.chosen.estimate.state for each in self.decisions.values())

    @property
    def is_feasible(self) -> bool:
        """Whether all queries together keep up."""
        return self.needed <= self.capacity

    @property
    def is_shed(self) -> bool:
        """Whether they do not keep up by themselves, and some have drop boxes."""
        return any(each.is_shed for each in self.decisions.values())

    @property
    def rests_on_guesses(self) -> bool:
        return any(each.rests_on_guesses for each in self.decisions.values())
