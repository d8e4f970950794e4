"""Scripts in which whoever can share a join does, whatever that costs."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from penstock.api import know_script
from penstock.optimize.options import DEFAULT_OPTIONS, PlanOptions
from penstock.optimize.script import decide_script
from penstock.optimize.sharing.same_joins import named_join
from penstock.plan.plan import Plan
from penstock.plan.script import PlannedScript
from penstock.plan.sharing.offers import offers
from penstock.query.script import Script, Standing
from support.plans.every_kind import any_of

_KINDS = ("multi-way", "tree")
_TRIES = 1000


def shareable(script: Script) -> dict[str, tuple[str, ...]]:
    """Queries that have a join in common, with those of one part of it, by who may find it."""
    joins = {m.name: n.join for m in script.members if (n := named_join(m.query)) is not None}
    made: dict[str, tuple[str, ...]] = {}
    for join in sorted(set(joins.values()), key=lambda each: (-len(each.inputs), str(each))):
        part = next((j for j in joins.values() if j != join and join.holds(j)), join)
        group = tuple(name for name, each in joins.items() if each in (join, part))
        if len(group) > 1:
            made[f"shared.{len(made) + 1}"] = group
            joins = {name: each for name, each in joins.items() if name not in group}
    return made


def forced(
    script: Script,
    makers: Mapping[str, tuple[str, ...]] | None = None,
    *,
    capacity: float | None = None,
    options: PlanOptions = DEFAULT_OPTIONS,
) -> PlannedScript:
    """The script planned as on a checkpoint whose queries share what they can, or as given."""
    names = frozenset(member.name for member in script.members)
    standing = Standing(names, shareable(script) if makers is None else makers)
    knowledge = know_script(script, None, capacity, "local")
    return decide_script(script, knowledge, options, standing)


def any_plans(planned: PlannedScript, rng: Random) -> dict[str, Plan]:
    """Any plans for those who find combinations, as long as these are the ones that are taken; who
    takes them has none to follow."""
    script = planned.script
    made = dict(planned.plans)
    for member in script.members:
        takers = script.takers(member.name)
        wanted = {frozenset(alias for _, alias in t.takes.aliases) for t in takers if t.takes}
        drawn = (any_of(rng.choice(_KINDS), member.query, rng) for _ in range(_TRIES))
        if takers:
            made[member.name] = next(p for p in drawn if offers(p, wanted))
    return made
