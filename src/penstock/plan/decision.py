"""Decisions: the plans that were weighed, what each is expected to do, and why one was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.figure import Figure
from penstock.plan.physical import Physical
from penstock.plan.plan import Plan
from penstock.query.goal import Goal


@dataclass(frozen=True)
class InnerEstimate:
    """An inner result of a tree, by its shape: results/s that it gives, and how many are alive."""

    shape: str
    rate: float
    state: float


@dataclass(frozen=True)
class Estimate:
    """The work, results and state that are expected of a plan with its drop boxes as they are.

    `utilization` is seconds of work a second, `needed` what it would be without drop boxes;
    `output_rate` is results/s, `full_rate` without drop boxes; `state` is tuples. `measure` is what
    the goal asks for: seconds to the first N results (None: never), or results by the time. `sets`
    are the rows that the inputs aggregated early are folded to. `changes` are the groups/s that a
    view tells (None: the query has no view), while its results are combinations of tuples.
    `starting` is seconds a second that it takes to start batches, one a second, however little is
    in them.
    """

    utilization: float
    needed: float
    output_rate: float
    full_rate: float
    state: float
    keep: Mapping[str, float] = field(default_factory=dict)
    inner: tuple[InnerEstimate, ...] = ()
    measure: float | None = None
    sets: Mapping[str, float] = field(default_factory=dict)
    changes: float | None = None
    starting: float = 0.0

    @property
    def work(self) -> float:
        """The work and what starting the batches takes: plans are ranked by it."""
        return self.utilization + self.starting


@dataclass(frozen=True)
class Alternative:
    """A plan with its estimate; `found_by` names the searches that proposed it."""

    plan: Plan
    estimate: Estimate
    found_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class InputEstimate:
    """An input as it arrives, before filters and drop boxes: tuples/s (a table has none), and
    tuples in its window at the most.

    `is_guess` says that the window's size rests on something that was guessed.
    """

    rate: Figure | None
    state: float
    is_guess: bool = False


@dataclass(frozen=True)
class Statistic:
    """A figure that the decision rests on: what it is of, and its unit.

    A minor one decides so little that a guess of it is not counted as one.
    """

    what: str
    figure: Figure
    unit: str
    is_minor: bool = False

    @property
    def is_guess(self) -> bool:
        """Whether it was guessed and that matters."""
        return self.figure.is_guess and not self.is_minor


@dataclass(frozen=True)
class Decision:
    """The chosen plan, the others from best to worst, and the reason.

    `is_feasible` says whether the chosen plan keeps up without drop boxes; `is_shed` that it does
    not and has them; `rests_on_guesses` that rates, selectivities or costs were guessed, so that
    utilization says little. `horizon` is the seconds after which UNBOUNDED windows are looked at.
    """

    goal: Goal
    capacity: float
    chosen: Alternative
    others: tuple[Alternative, ...]
    reason: str
    statistics: tuple[Statistic, ...]
    inputs: Mapping[str, InputEstimate]
    horizon: float
    physical: Physical
    is_forced: bool = False
    is_shed: bool = False
    rests_on_guesses: bool = False
    notes: tuple[str, ...] = ()

    @property
    def plan(self) -> Plan:
        return self.chosen.plan

    @property
    def is_feasible(self) -> bool:
        return self.chosen.estimate.needed <= self.capacity
