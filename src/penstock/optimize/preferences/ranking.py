"""The order of plans, from best to worst, and the figures by which one comes before another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from penstock.optimize.options import Estimator
from penstock.plan.decision import Alternative
from penstock.plan.mesh import MeshJoin
from penstock.query.goal import First, Goal, Steady

_SAME = 9
"""Significant digits in which two plans must differ for one to be called better."""
_ROUGHLY = 4
"""The same of what they lose where all must shed, and of results over time, whose curves are
straight between their points."""
OVER = 1e-6
"""How far, relatively, a plan may be over the capacity and still be said to keep up."""


@dataclass(frozen=True)
class Ranking:
    """The order of plans for a goal, where there is so much capacity, or by cardinalities."""

    goal: Goal
    capacity: float
    estimator: Estimator = "rates"

    def sorted(self, plans: Iterable[Alternative]) -> list[Alternative]:
        """The plans, best first; those that are equal keep their order."""
        return sorted(plans, key=self._place)

    def best(self, plans: Sequence[Alternative]) -> Alternative:
        """The first of the sorted plans."""
        return min(plans, key=self._place)

    def _place(self, alternative: Alternative) -> tuple[float, ...]:
        """Routes that spare nothing are not worth a classifier: of equals a mesh comes last."""
        return (*self.merit(alternative), float(isinstance(alternative.plan, MeshJoin)))

    def merit(self, alternative: Alternative) -> tuple[float, ...]:
        """The figures that are compared, one after the other; less is better.

        Steady: A&N's R(p) = output rate / utilization, which is the fewest results lost, and of
        those plans that lose none the least work. Otherwise V&N's measure, then the work. The
        traditional estimator asks for neither.
        """
        found = alternative.estimate
        work = _rounded(found.work)
        if self._is_traditional:
            cost = found.by_cardinality
            return (float("inf") if cost is None else _rounded(cost), work)
        if isinstance(self.goal, Steady):
            lost = 1.0 - self._kept(alternative)
            # Of plans that lose nearly all, only what they keep tells one from another.
            least = -_rounded(1.0 - lost, _ROUGHLY)
            return (_rounded(lost, _ROUGHLY), least, work, _rounded(found.state))
        if found.measure is None:
            return (float("inf"), work)
        measure = _rounded(found.measure, _ROUGHLY)
        return (measure if isinstance(self.goal, First) else -measure, work)

    def keeps_up(self, alternative: Alternative) -> bool:
        """Whether a plan needs no more than there is, with its drop boxes."""
        return alternative.estimate.utilization <= self.capacity * (1 + OVER)

    def needs_no_shedding(self, alternative: Alternative) -> bool:
        """Whether a plan keeps up without drop boxes."""
        return alternative.estimate.needed <= self.capacity

    def deciding(self, one: Alternative, other: Alternative) -> str:
        """The first figure in which plans differ: as `merit` has them, or nothing."""
        is_steady = isinstance(self.goal, Steady)
        names = ["lost", "lost", "work", "state"] if is_steady else ["measure", "work"]
        names = ["cardinality", "work"] if self._is_traditional else names
        pairs = zip(names, self.merit(one), self.merit(other), strict=True)
        return next((name for name, left, right in pairs if left != right), "")

    @property
    def _is_traditional(self) -> bool:
        return self.estimator == "cardinality"

    def _kept(self, alternative: Alternative) -> float:
        found = alternative.estimate
        if not self.keeps_up(alternative):
            return 0.0
        return found.output_rate / found.full_rate if found.full_rate else 1.0


def _rounded(number: float, digits: int = _SAME) -> float:
    return float(f"{number:.{digits}g}")
