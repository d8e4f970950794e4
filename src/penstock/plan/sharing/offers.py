"""Which combinations of some inputs a plan comes by, so that others may take them on their way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from penstock.plan.default_plan import default_method
from penstock.plan.multiway import MultiwayJoin, Probe, ProbeOrder
from penstock.plan.plan import Plan
from penstock.plan.tree import TreeJoin, branches, leaves
from penstock.query.keys import key_classes

Members = frozenset[str]


def offers(plan: Plan, wanted: Iterable[Members]) -> bool:
    """Whether a plan finds all combinations of each of these sets of inputs, each of them once."""
    return all(_finds(plan, members) for members in wanted)


def turned_to(plan: Plan, wanted: Iterable[Members]) -> Plan | None:
    """A multi-way join that offers these, with the orders of another one but for that; None of
    other plans, and where no orders do."""
    if not isinstance(plan, MultiwayJoin) or len(plan.joins) > 1:
        return None
    sets = sorted(wanted, key=len)
    classes = key_classes(plan.query)

    def order(one: ProbeOrder) -> ProbeOrder:
        mine = [members for members in sets if one.driver in members]
        # Nobody is nearer than who is in the smallest set; beyond that the orders stay.
        near = {alias: n for n, members in reversed([*enumerate(mine)]) for alias in members}
        targets = sorted(one.targets, key=lambda alias: near.get(alias, len(mine)))
        bound = [(one.driver, *targets[:n]) for n in range(len(targets))]
        methods = map(partial(default_method, classes), targets, bound)
        return ProbeOrder(one.driver, tuple(map(Probe, targets, methods)))

    turned = replace(plan, orders=tuple(map(order, plan.orders)))
    return turned if offers(turned, sets) else None


def _finds(plan: Plan, members: Members) -> bool:
    if not isinstance(plan, MultiwayJoin) and members == frozenset(plan.query.aliases):
        return True
    if isinstance(plan, TreeJoin):
        return any(frozenset(leaves(branch)) == members for branch in branches(plan.root))
    return isinstance(plan, MultiwayJoin) and finding(plan, members) is not None


def finding(plan: MultiwayJoin, members: Members) -> Members | None:
    """The inputs of the join on whose way a plan comes by all combinations of some of them, each
    once; None if there is none. Of several joins it is the first, but for that of just these."""
    joins = sorted(plan.joins, key=lambda join: join != members)
    return next((join for join in joins if _comes_by(plan, join, members)), None)


def _comes_by(plan: MultiwayJoin, join: Members, members: Members) -> bool:
    """Whether every stream of the join that is among these visits the others of them first."""
    others = len(members) - 1
    orders = [each for each in plan.orders if each.members == join and each.driver in members]
    return members <= join and all(
        frozenset((each.driver, *each.targets[:others])) == members for each in orders
    )
