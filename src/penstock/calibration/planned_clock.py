"""The laboratory's simulated clock with the costs that a plan was made with."""

from __future__ import annotations

from penstock.lab.clock import ClockCosts, OwnCosts, WindowCharge
from penstock.stats.costs import Costs
from penstock.stats.known import Known


def own_costs(known: Known) -> OwnCosts:
    """What equalities and conditions take by themselves, as far as somebody has said so."""
    equalities: dict[frozenset[str], float] = {}
    for group, figure in known.handling.items():
        equalities[group.streams] = equalities.get(group.streams, 0.0) + figure.value
    conditions = {text: each.cost for text, each in known.conditions.items()}
    return OwnCosts(
        equalities,
        {text: cost.value for text, cost in conditions.items() if cost.value and not cost.is_guess},
    )


def window_charges(known: Known) -> dict[str, WindowCharge]:
    """What single windows cost beyond the costs of all."""
    costs = known.costs
    given = known.windows if costs.join is None else {}
    return {
        alias: WindowCharge(each.settling(costs), each.probing(costs))
        for alias, each in given.items()
    }


def as_planned(costs: Costs) -> ClockCosts:
    """The planner's costs by the kinds of work that the laboratory counts."""
    if costs.join is not None:
        return ClockCosts(inserts=costs.join)
    return ClockCosts(
        tuples=costs.arrive,
        inserts=costs.move + costs.insert,
        expired=costs.expire,
        probes=costs.probe + costs.hash,
        compares=costs.compare,
        results=costs.result,
    )
