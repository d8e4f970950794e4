"""Corrections of the model by what came of switches: plans that are barred, and factors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from penstock.adapt.planning.weighing import Candidate, Weighed
from penstock.adapt.settings import Settings
from penstock.adapt.switching.judge import Outcome


@dataclass
class Corrections:
    """The batches until which plans are barred, by their identity, and how many times the work that
    the model says plans take, by identity and by kind."""

    settings: Settings
    barred: dict[str, int] = field(default_factory=dict)
    factors: dict[str, float] = field(default_factory=dict)

    def work(self, candidate: Candidate) -> float:
        """The work of a plan as it is believed."""
        kind = self.factors.get(candidate.kind, 1.0)
        return candidate.work * self.factors.get(candidate.identity, kind)

    def better(self, answer: Weighed, number: int) -> Iterator[Candidate]:
        """The plans of less work than the running one, the best first, barred ones among them.

        As long as nothing is corrected, they come as the planner has them, who has more reasons
        than work: what it likes less than the running one is none of them.
        """
        self.barred = {plan: until for plan, until in self.barred.items() if until > number}
        left = list(answer.others)
        if self.factors:
            left.sort(key=self.work)
        most = self.work(answer.running)
        for each in left:
            if each.identity == answer.running.identity:
                return
            if self.work(each) < most:
                yield each

    def barred_until(self, candidate: Candidate) -> int | None:
        """The batch before which a plan is not tried again; None if it may be tried."""
        return self.barred.get(candidate.identity)

    def bar(self, old: Candidate, new: Candidate, outcome: Outcome, until: int) -> None:
        """A plan has been taken back: it is not tried again for a while, nor believed."""
        self.barred[new.identity] = until
        most = self.settings.most_factor
        factor = min(most, max(1.0, outcome.factor))
        self.factors[new.identity] = factor
        if new.kind != old.kind:
            # Other plans of the kind are not believed either, but half as strongly.
            self.factors[new.kind] = factor**0.5
