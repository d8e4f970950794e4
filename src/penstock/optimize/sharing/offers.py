"""Which combinations of some inputs a plan comes by, so that others may take them on their way."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from penstock.plan.tree import TreeJoin, branches, leaves

Members = frozenset[str]


def offers(plan: Plan, wanted: Iterable[Members]) -> bool:
    """Whether a plan finds all combinations of each of these sets of inputs, each of them once."""
    return all(_finds(plan, members) for members in wanted)


def _finds(plan: Plan, members: Members) -> bool:
    if members == frozenset(plan.query.aliases):
        return True
    if isinstance(plan, TreeJoin):
        return any(frozenset(leaves(branch)) == members for branch in branches(plan.root))
    if not isinstance(plan, MultiwayJoin):
        return False
    others = len(members) - 1
    firsts = {o.driver: frozenset(p.target for p in o.probes[:others]) for o in plan.orders}
    return all(firsts[alias] == members - {alias} for alias in members if alias in firsts)
