"""Decisions: the plans that were weighed, what each is expected to do, and why one was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.figure import Figure
from penstock.plan.delay import ExpectedDelay
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
    """The work, results and state that are expected of a plan with its drop boxes as they are."""

    utilization: float
    """Seconds of work a second."""

    needed: float
    """The same without drop boxes."""

    output_rate: float
    """Results/s; those of a view are combinations of tuples."""

    full_rate: float
    """The same without drop boxes."""

    state: float
    """Tuples in all windows, inner results included."""

    keep: Mapping[str, float] = field(default_factory=dict)
    """The fraction that is kept of each stream, by alias."""

    inner: tuple[InnerEstimate, ...] = ()
    """The inner results of a tree."""

    measure: float | None = None
    """The figure of the goal: seconds to the first N results (None: never), or results by then."""

    sets: Mapping[str, float] = field(default_factory=dict)
    """The rows that the inputs aggregated early are folded to, by alias."""

    changes: float | None = None
    """The groups/s that a view tells; None if the query has no view."""

    starting: float = 0.0
    """Seconds a second that it takes to start batches, one a second, however little is in them."""

    by_cardinality: float | None = None
    """Seconds of work for all tuples, had they been there at once: the traditional cost of a tree,
    where plans are compared by it."""

    asking: float = 0.0
    """Seconds a second, of those of work, that tuples of outer joins take to ask for partners."""

    @property
    def work(self) -> float:
        """The work and what starting the batches takes: plans are ranked by it."""
        return self.utilization + self.starting

    @property
    def utilisation(self) -> float:
        """The `utilization`, as it was spelt before."""
        return self.utilization


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
    """The chosen plan, the others, and the reason."""

    goal: Goal
    """The aim by which plans are compared."""

    capacity: float
    """The CPU-seconds a second that there are."""

    chosen: Alternative
    """The plan that is taken, as it is to run."""

    others: tuple[Alternative, ...]
    """The other plans, from best to worst."""

    reason: str
    """Why the chosen plan is taken: explain's `why`."""

    statistics: tuple[Statistic, ...]
    """The figures that the decision rests on."""

    inputs: Mapping[str, InputEstimate]
    """The inputs as they arrive, by alias."""

    horizon: float
    """The seconds after which UNBOUNDED windows are looked at."""

    physical: Physical
    """How the plan is best run: buckets, expiration and batches."""

    is_forced: bool = False
    """Whether `--plan` gave the plan."""

    is_shed: bool = False
    """Whether the plan does not keep up by itself and has drop boxes."""

    rests_on_guesses: bool = False
    """Whether rates, selectivities or costs were guessed, so that utilization says little."""

    notes: tuple[str, ...] = ()
    """Remarks on the figures and the plan, for whoever reads explain."""

    delay: ExpectedDelay | None = None
    """The delay that is expected of results; None where it grows for ever, or shedding leads it."""

    @property
    def plan(self) -> Plan:
        return self.chosen.plan

    @property
    def is_feasible(self) -> bool:
        """Whether the chosen plan keeps up without drop boxes."""
        return self.chosen.estimate.needed <= self.capacity
