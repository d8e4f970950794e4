"""The follow-up of a switch: what it brought beside what it promised."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from penstock.adapt.planning.expected import Expectation, Load
from penstock.adapt.planning.weighing import Candidate
from penstock.adapt.settings import Settings
from penstock.adapt.switching.judge import Judge, Outcome, Trial
from penstock.engine.reports.parts import Change
from penstock.plan.plan import Plan
from penstock.stats.known import Known


@dataclass(frozen=True)
class Switch:
    """Another plan that is followed from a batch on, and what it promised."""

    number: int
    old: Candidate
    new: Candidate
    known: Known
    promise: float
    backlog: int = 0


class FollowUp:
    """Compares the seconds of batches with those predicted, and judges the last switch."""

    def __init__(self, settings: Settings):
        self.judge = Judge(settings)
        self._settings = settings
        self._expected = Expectation()
        self._switch: Switch | None = None
        self._heard = 0
        self._latest: deque[tuple[float, Load]] = deque(maxlen=_LATEST)

    def begin(self, switch: Switch, known: Known) -> None:
        """A switch has been made: it is compared with the latest batches of the plan before, too,
        as the reason for it may have come with them."""
        for cpu, load in self._latest:
            self.judge.hear(self._expected.seconds(known, switch.old.plan, load), cpu)
        self.judge.begin()
        self._latest.clear()
        self._switch, self._heard = switch, 0

    def drop(self) -> None:
        """Another plan is followed for other reasons."""
        self.judge.drop()
        self.judge.batches.clear()
        self._latest.clear()
        self._heard = 0

    def hear(
        self, cpu: float, load: Load, plan: Plan, known: Callable[[], Known]
    ) -> tuple[Outcome, Switch] | None:
        """Take in a batch; what came of the last switch, once that is known.

        The first batch of a plan is left out: it rebuilds, and compiles what it has not used yet.
        """
        self._heard += 1
        if self._heard == 1 or load.seconds <= 0.0 or cpu <= 0.0:
            return None
        if self._switch is not None and self.judge.is_judging:
            is_tried = self._heard % self._settings.judged_every == 0
            return self._tried(cpu, load, plan, known(), self._switch) if is_tried else None
        if self._heard % self._settings.reckoned_every == 0 or len(self.judge.batches) < _FIRST:
            self.judge.hear(self._expected.seconds(known(), plan, load), cpu)
        else:
            self._latest.append((cpu, load))
        return None

    def _tried(
        self, cpu: float, load: Load, plan: Plan, known: Known, switch: Switch
    ) -> tuple[Outcome, Switch] | None:
        old = self._expected.seconds(known, switch.old.plan, load)
        trial = Trial(cpu, old, self._expected.seconds(known, plan, load))
        outcome = self.judge.try_(trial)
        return None if outcome is None else (outcome, switch)


_FIRST = 5
"""Batches of a plan that are all reckoned, so that there is something to compare with soon."""
_LATEST = 8
"""Batches before a switch that are reckoned when it is made: as many as a drift takes to settle."""


def told(outcome: Outcome, switch: Switch, *, is_back: bool) -> Change:
    """What came of a switch, in a sentence."""
    much = f"{abs(outcome.saved):.0%} ± {outcome.error + outcome.doubt:.0%}"
    brought = f"it took {much} more work" if outcome.saved < 0.0 else f"it saved {much} of the work"
    reason = f"{brought}, where {outcome.promise:.0%} was promised for these batches"
    if is_back:
        reason = f"{reason}: back to the plan before"
        return Change("take-back", reason, switch.old.text, outcome.promise, outcome.saved)
    return Change("outcome", reason, switch.new.text, outcome.promise, outcome.saved)
