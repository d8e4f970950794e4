"""A supervisor of scripts that changes plans at nearly every batch, whatever that costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from penstock.adapt.script.follow_script import taken_sets
from penstock.engine.control.order import Order
from penstock.engine.reports.report import Report
from penstock.engine.wire.facts import Fact
from penstock.plan.plan import Plan
from penstock.plan.sharing.offers import offers
from penstock.query import Query
from penstock.query.script import Script
from support.plans.every_kind import any_kind, any_of
from support.plans.several_joins import any_joins

_TRIES = 1000


@dataclass(frozen=True)
class Restless:
    """Draws plans of any kind for the queries of a script, by its seed and the batch."""

    script: Script
    seed: int
    sheds: frozenset[str] = frozenset()
    followed: list[str] = field(default_factory=list)
    """The queries that were given plans, each time that they were."""

    def next_plans(self, running: Mapping[str, Plan], number: int) -> dict[str, Plan]:
        made = {}
        for member in self.script.members:
            rng = Random(f"{self.seed} {number} {member.name}")
            if member.takes is None and rng.random() < 0.7:
                wanted = taken_sets(self.script, member)
                now = running[member.name]
                made[member.name] = replace(_drawn(now.query, wanted, rng), drops=now.drops)
        self.followed.extend(made)
        return made

    def observe(
        self, report: Report, facts: Mapping[str, Sequence[Fact]], plans: Mapping[str, Plan]
    ) -> Report:
        return report

    def obey(self, order: Order) -> str:
        return str(order)

    def close(self) -> None:
        pass


def _drawn(query: Query, wanted: frozenset[frozenset[str]], rng: Random) -> Plan:
    if not wanted:
        return any_kind(query, rng)
    if frozenset(query.aliases) not in wanted:
        return any_joins(query, wanted, rng)
    drawn = (any_of(rng.choice(("multi-way", "tree")), query, rng) for _ in range(_TRIES))
    return next(plan for plan in drawn if offers(plan, wanted))
