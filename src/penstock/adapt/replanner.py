"""The replanner: when plans are weighed again, and which of them is followed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from penstock.adapt.planning.planner import BackgroundPlanner, Planning
from penstock.adapt.planning.weighing import Candidate, Question, Weighed
from penstock.adapt.settings import Settings
from penstock.adapt.switching.policy import Offer, Verdict, verdict
from penstock.engine.reports.parts import Change
from penstock.optimize.options import PlanOptions
from penstock.plan.plan import Plan
from penstock.plan.text.parse import render_plan
from penstock.stats.known import Known

Mode = Literal["on", "advise", "off"]
MODES: tuple[Mode, ...] = ("on", "advise", "off")


@dataclass(frozen=True)
class Standing:
    """How things stand at a batch boundary: seconds are of event time, `busy` is a part of the
    clock, `backlog` pieces that are there to be read."""

    number: int
    regime: float
    since_drift: int
    largest_window: float
    busy: float
    backlog: int
    rows: Mapping[str, float]


@dataclass(frozen=True)
class Switch:
    """Another plan that is followed from a batch on, and what it promised."""

    number: int
    old: Candidate
    new: Candidate
    known: Known
    promise: float
    backlog: int


class Replanner:
    """Asks the planner, judges its answers, and remembers the last switch."""

    def __init__(self, options: PlanOptions, settings: Settings, planning: Planning, mode: Mode):
        self.mode: Mode = mode
        self.planner = BackgroundPlanner(planning)
        self.last: Switch | None = None
        self.weighed: Known | None = None
        self._options = options
        self._settings = settings
        self._asked = 0
        self._stayed = False
        self._advised: str | None = None
        self.barred: dict[str, int] = {}
        self.corrections: dict[str, float] = {}

    def wants(self, number: int, has_drifted: bool, has_moved: bool) -> bool:
        """Whether plans are to be weighed again."""
        if self.mode == "off" or self.planner.is_busy or number < self._settings.least_batches:
            return False
        pause = self._settings.stay_every if self._stayed else self._settings.weigh_every
        return has_drifted or (has_moved and number - self._asked >= pause)

    def ask(self, known: Known, running: Plan, standing: Standing) -> None:
        """Have plans weighed by the figures of now."""
        self._asked, self.weighed = standing.number, known
        self.planner.ask(Question(known, self._options, running, standing.rows))

    def decide(self, running: Plan, standing: Standing) -> tuple[Switch | None, Change | None]:
        """The switch to make now, if any, and what is to be told."""
        answer = self.planner.answer()
        if answer is None or self.mode == "off" or answer.running.text != render_plan(running):
            return None, None
        best = self._best(answer, standing.number)
        if best is None:
            self._stayed = True
            return None, None
        offer = self._offer(answer.running, best, standing)
        found = verdict(offer, self._settings)
        self._stayed = not found.is_worth_it
        if not found.is_worth_it:
            return None, None
        return self._followed(answer, best, offer, found, standing)

    def _followed(
        self,
        answer: Weighed,
        best: Candidate,
        offer: Offer,
        found: Verdict,
        standing: Standing,
    ) -> tuple[Switch | None, Change | None]:
        promise = 1.0 - offer.new_work / offer.old_work
        if self.mode == "advise":
            if self._advised == best.text:
                return None, None
            self._advised = best.text
            return None, Change("advise", f"would save: {found.reason}", best.text, promise)
        switch = Switch(
            standing.number, answer.running, best, answer.known, promise, standing.backlog
        )
        self.last = switch
        return switch, Change("switch", found.reason, best.text, promise)

    def _best(self, answer: Weighed, number: int) -> Candidate | None:
        """The best plan that is not barred; None if that is the running one."""
        self.barred = {text: until for text, until in self.barred.items() if until > number}
        for candidate in answer.others:
            if candidate.text == answer.running.text:
                return None
            if candidate.text not in self.barred:
                return candidate
        return None

    def _offer(self, running: Candidate, best: Candidate, standing: Standing) -> Offer:
        last = self.last
        return Offer(
            old_work=running.work * self.corrections.get(running.text, 1.0),
            new_work=best.work * self.corrections.get(best.text, 1.0),
            rebuild=best.rebuild,
            busy=standing.busy,
            largest_window=standing.largest_window,
            regime=standing.regime,
            since_switch=None if last is None else standing.number - last.number,
            since_drift=standing.since_drift,
            is_behind=last is not None
            and last.new.rebuild > 0.0
            and standing.backlog > last.backlog,
        )


def with_drops_of(plan: Plan, running: Plan) -> Plan:
    """A plan that sheds as the running one does."""
    return replace(plan, drops=running.drops)
