"""Scripts in which whoever can share a join does, whatever that costs."""

from __future__ import annotations

from random import Random

from penstock.api import know_script
from penstock.optimize.options import DEFAULT_OPTIONS
from penstock.optimize.script import decide_script
from penstock.optimize.sharing.same_joins import SameJoin, named_join
from penstock.plan.plan import Plan
from penstock.plan.script import PlannedScript
from penstock.query.script import Script, Standing
from support.plans.every_kind import any_of


def joins_of(script: Script) -> dict[SameJoin, tuple[str, ...]]:
    """The queries that have each join in common."""
    found: dict[SameJoin, tuple[str, ...]] = {}
    for member in script.members:
        named = named_join(member.query)
        if named is not None:
            found[named.join] = (*found.get(named.join, ()), member.name)
    return found


def forced(script: Script, makers: dict[str, tuple[str, ...]] | None = None) -> PlannedScript:
    """The script planned as on a checkpoint whose queries share what they can, or as given."""
    if makers is None:
        groups = (names for names in joins_of(script).values() if len(names) > 1)
        makers = {f"shared.{number}": names for number, names in enumerate(groups, 1)}
    names = frozenset(member.name for member in script.members)
    knowledge = know_script(script, None, None, "local")
    return decide_script(script, knowledge, DEFAULT_OPTIONS, Standing(names, makers))


def any_plans(planned: PlannedScript, rng: Random) -> dict[str, Plan]:
    """Any plans for those who find combinations; who takes them has none to follow."""
    script = planned.script
    kinds = ("multi-way", "tree")
    return planned.plans | {
        member.name: any_of(rng.choice(kinds), member.query, rng)
        for member in script.members
        if script.takers(member.name)
    }
