"""Plans for several joins that have inputs in common, and of which none has all of them."""

from __future__ import annotations

from collections.abc import Collection

from penstock.optimize.joins.probe_search import best_orders_of
from penstock.optimize.model.problem import Problem
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.sharing.offers import Members, finding


def joins_plan(problem: Problem, wanted: Collection[Members]) -> MultiwayJoin:
    """The best orders by which all combinations of these sets of inputs are found: what is kept of
    an input serves all joins. Those of a set that is part of another are found on its way, if they
    come along it, and else by orders of their own."""
    sets = sorted(wanted, key=lambda members: (-len(members), sorted(members)))
    joins = [each for each in sets if not any(each < other for other in sets)]
    plan = best_orders_of(problem, joins)
    for part in sets:
        if finding(plan, part) is None:
            joins.append(part)
            plan = best_orders_of(problem, joins)
    return plan
