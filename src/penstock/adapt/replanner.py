"""The replanner: when plans are weighed again, and which of them is followed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from penstock.adapt.planning.budget import Budget
from penstock.adapt.planning.planner import BackgroundPlanner, Planning
from penstock.adapt.planning.weighing import Candidate, Question, Weighed
from penstock.adapt.settings import Settings
from penstock.adapt.switching.corrections import Corrections
from penstock.adapt.switching.follow_up import Switch
from penstock.adapt.switching.policy import Offer, Verdict, verdict
from penstock.engine.reports.parts import Change
from penstock.optimize.options import PlanOptions
from penstock.plan.plan import Plan, recomputed_by
from penstock.stats.known import Known

Mode = Literal["on", "advise", "off"]
MODES: tuple[Mode, ...] = ("on", "advise", "off")

_DOUBLED = 10
"""Times that a pause is doubled at the most."""


@dataclass(frozen=True)
class Standing:
    """How things stand at a batch boundary: seconds are of event time, `busy` is a part of the
    clock, `backlog` pieces that are there to be read, `rows` those in windows, by alias. While it
    `is_shed`, a view is not recomputed."""

    number: int
    regime: float
    since_drift: int
    largest_window: float
    busy: float
    backlog: int
    rows: Mapping[str, float]
    is_shed: bool = False


class Moves(Protocol):
    """Tells whether figures have moved since plans were last weighed."""

    def has_moved(self) -> bool:
        """Whether one has, beyond its noise."""

    def has_moved_far(self) -> bool:
        """Whether a rate has moved so far that plans should not wait."""


class Replanner:
    """Asks the planner, judges its answers, and remembers the last switch."""

    def __init__(
        self,
        options: PlanOptions,
        settings: Settings,
        planning: Planning,
        mode: Mode,
        budget: Budget,
        taken: frozenset[frozenset[str]] = frozenset(),
    ):
        self.mode: Mode = mode
        self._budget = budget
        self._taken = taken
        self.planner = BackgroundPlanner(planning)
        self.corrections = Corrections(settings)
        self.last: Switch | None = None
        self.advice: Change | None = None
        self.options = options
        self._settings = settings
        self._asked = -settings.weigh_every
        self._stayed = 0
        self._answer: Weighed | None = None
        self._refused: tuple[str, str] | None = None
        self._saved = 0.0

    def wants(self, standing: Standing, *, has_drifted: bool, moves: Moves) -> bool:
        """Whether plans are to be weighed again."""
        if self.mode == "off" or self.planner.is_busy or standing.regime <= 0.0:
            return False
        passed = standing.number - self._asked
        is_turn = passed > 0 and passed % self._settings.weigh_every == 0
        if has_drifted or (passed > 0 and moves.has_moved_far()):
            self._stayed = 0
            if has_drifted:
                self._budget.renew()
            return True
        is_due = is_turn and passed % self._pause(standing) == 0
        return is_due and self._budget.allows_weighing and moves.has_moved()

    def _pause(self, standing: Standing) -> int:
        """Batches between two weighings: the more of them have changed nothing, the longer."""
        settings = self._settings
        if not self._stayed or standing.since_drift < settings.dwell_batches:
            return settings.weigh_every
        return min(settings.stay_most, settings.stay_every << min(self._stayed - 1, _DOUBLED))

    def ask(self, known: Callable[[], Known], running: Plan, standing: Standing) -> None:
        """Have plans weighed by the figures of now."""
        self._asked = standing.number
        self._budget.weigh()
        self.planner.ask(Question(known, self.options, running, standing.rows, self._taken))

    def decide(self, running: str, standing: Standing) -> tuple[Weighed | None, Change | None]:
        """What was weighed, if anything, and what is to be told; a switch is then the `last`.

        `running` is the identity of the plan that runs. An answer stands until the next: what is
        not worth it yet may be when the streams have been as they are for longer.
        """
        new = self.planner.answer()
        self._answer = answer = new or self._answer
        self._stayed += new is not None
        if answer is None or self.mode == "off" or answer.running.identity != running:
            return None, None
        refused = list[tuple[Candidate, Verdict]]()
        for candidate in self.corrections.better(answer, standing.number):
            offer = self._offer(answer.running, candidate, standing)
            found = verdict(offer, self._settings)
            if found.is_worth_it:
                self._stayed, self._refused = 0, None
                return answer, self._followed(answer, candidate, offer, found.reason, standing)
            refused.append((candidate, found))
        return answer, self._stays(refused) if new is not None else None

    def back(self, number: int) -> Switch | None:
        """The last switch, taken back: no other is made for a while."""
        last, self.last = self.last, None
        if last is not None:
            self.last = Switch(number, last.new, last.old, last.known, 0.0)
        return last

    def _followed(
        self, answer: Weighed, best: Candidate, offer: Offer, reason: str, standing: Standing
    ) -> Change | None:
        promise = 1.0 - offer.new_work / offer.old_work
        if self.mode == "advise":
            return self._advised(Change("advise", reason, best.text, promise))
        number, backlog = standing.number, standing.backlog
        self.last = Switch(number, answer.running, best, answer.known, promise, backlog)
        return Change("switch", reason, best.text, promise)

    def _stays(self, refused: Sequence[tuple[Candidate, Verdict]]) -> Change | None:
        """Why the best plan that there is is not followed, if that has not been said yet; or that
        there is none any more."""
        before, self._refused = self._refused, None
        if not refused:
            return None if before is None else Change("stay", "it is the best plan again")
        best, found = refused[0]
        self._refused = (best.identity, found.rule)
        return None if self._refused == before else Change("stay", found.reason, best.text)

    def save(self, cpu: float) -> None:
        """Count what the last advice would have saved of a batch."""
        if self.mode == "advise" and self.advice is not None and self.advice.promise:
            self._saved += self.advice.promise * cpu

    def _advised(self, change: Change) -> Change | None:
        """An advice is given once, until another plan is the best; then with what the one before
        would have saved."""
        last, self.advice = self.advice, change
        if last is None:
            return change
        if last.plan == change.plan:
            return None
        saved, self._saved = self._saved, 0.0
        reason = f"{change.reason}; the last advice would have saved {saved:.3g} CPU-seconds so far"
        return replace(change, reason=reason)

    def _offer(self, running: Candidate, best: Candidate, standing: Standing) -> Offer:
        last = self.last
        is_behind = last is not None and last.new.rebuild > 0.0 and standing.backlog > last.backlog
        return Offer(
            old_work=self.corrections.work(running),
            new_work=self.corrections.work(best),
            rebuild=best.rebuild,
            fill=best.fill,
            busy=standing.busy,
            largest_window=standing.largest_window,
            regime=standing.regime,
            since_switch=None if last is None else standing.number - last.number,
            since_drift=standing.since_drift,
            is_behind=is_behind,
            barred_until=self.corrections.barred_until(best),
            is_for_all_tuples=standing.is_shed and recomputed_by(best.plan) is not None,
        )
