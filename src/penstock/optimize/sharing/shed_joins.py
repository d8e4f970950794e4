"""Shedding of shared joins: what those who take from one have left, by what may be worked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from penstock.optimize.algebra.posynomial import Posynomial, value
from penstock.optimize.estimate import estimate, with_drops
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.work import combinations_of
from penstock.optimize.options import PlanOptions
from penstock.plan.decision import Decision, Estimate
from penstock.plan.plan import Plan
from penstock.query.goal import STEADY
from penstock.query.script import Member, Taking
from penstock.stats.known import Known

_HALVINGS = 20
"""Steps in which the fractions to keep for a capacity are found."""


@dataclass(frozen=True)
class ShedJoin:
    """A member of a script that finds combinations for others, who may all lack some."""

    maker: str
    known: Known
    takers: tuple[Member, ...]
    decisions: Mapping[str, Decision]
    options: PlanOptions

    @property
    def names(self) -> tuple[str, ...]:
        """The members that are shed with it, itself among them."""
        return (self.maker, *(each.name for each in self.takers))

    def points(self, steps: int) -> list[tuple[float, float]]:
        """Capacities, and how many of those who take would have all of their results then, the
        parts that they have added up; none where nothing can be shed."""
        found = [self._at(step / steps) for step in range(1, steps)]
        if not any(each.is_shed for each in found):
            return []
        return [(each.capacity, sum(each.shares.values())) for each in (*found, self._at(1.0))]

    def at(self, capacity: float) -> dict[str, Decision]:
        """The decisions of the member and of those who take from it, for a capacity."""
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            low, high = (middle, high) if self._at(middle).capacity <= capacity else (low, middle)
        whole = self._at(1.0)
        found = whole if whole.capacity <= capacity else self._at(low or high)
        taken = {each.name: self._taken(each, found) for each in self.takers}
        return {self.maker: self._made(found), **taken}

    def _at(self, part: float) -> _Kept:
        """What is kept if only a part of the work of finding may be done."""
        decision = self.decisions[self.maker]
        capacity = replace(self.known.capacity, value=part * decision.chosen.estimate.needed)
        problem = Problem(self.known.query, replace(self._finding, capacity=capacity))
        found = estimate(problem, decision.plan, STEADY)
        x = [found.keep.get(alias, 1.0) for alias in problem.query.aliases]
        shares = {each.name: self._share(each, x) for each in self.takers}
        needed = {name: self.decisions[name].chosen.estimate.needed for name in shares}
        taking = sum(share * needed[name] for name, share in shares.items())
        return _Kept(found, shares, found.utilization + taking)

    @cached_property
    def _finding(self) -> Known:
        """What is known of the join, whose results others deliver."""
        return replace(self.known, costs=replace(self.known.costs, result=0.0))

    @cached_property
    def _rates(self) -> dict[str, Posynomial]:
        """Combinations/s that each query takes from, by the fractions kept of the inputs."""
        problem = Problem(self.known.query, self.known)
        members = {each.name: dict(_taking(each).aliases).values() for each in self.takers}
        masks = {name: problem.mask(aliases) for name, aliases in members.items()}
        return {name: combinations_of(problem, mask)[0] for name, mask in masks.items()}

    def _share(self, taker: Member, x: Sequence[float]) -> float:
        rate = self._rates[taker.name]
        return value(rate, x) / (value(rate, [1.0] * len(x)) or 1.0)

    def _made(self, found: _Kept) -> Decision:
        decision = self.decisions[self.maker]
        plan = self._estimating(with_drops(decision.plan, found.estimate))
        made = replace(found.estimate, needed=decision.chosen.estimate.needed)
        return _shed(decision, plan, made)

    def _taken(self, taker: Member, found: _Kept) -> Decision:
        """The decision of a query that takes what was shed for it, under its own aliases."""
        decision = self.decisions[taker.name]
        kept = with_drops(decision.plan, found.estimate).drops
        theirs = dict(kept.kept)
        mine = tuple((a, theirs[b]) for a, b in _taking(taker).aliases if b in theirs)
        plan = self._estimating(replace(decision.plan, drops=replace(kept, kept=mine)))
        alone, share = decision.chosen.estimate, found.shares[taker.name]
        made = replace(
            alone,
            utilization=share * alone.utilization,
            output_rate=share * alone.full_rate,
            keep=dict(mine),
        )
        return _shed(decision, plan, made)

    def _estimating(self, plan: Plan) -> Plan:
        drops = replace(plan.drops, estimates=not self.options.exact_of_kept)
        return replace(plan, drops=drops)


@dataclass(frozen=True)
class _Kept:
    """The estimate of a shared join that is shed, the part of its results that each query has left,
    and what all of them take, in seconds a second."""

    estimate: Estimate
    shares: Mapping[str, float]
    capacity: float

    @property
    def is_shed(self) -> bool:
        return any(fraction < 1.0 for fraction in self.estimate.keep.values())


def _shed(decision: Decision, plan: Plan, found: Estimate) -> Decision:
    chosen = replace(decision.chosen, plan=plan, estimate=found)
    return replace(decision, chosen=chosen, is_shed=bool(plan.drops.kept), delay=None)


def _taking(member: Member) -> Taking:
    assert member.takes is not None, "it takes from somebody"
    return member.takes
