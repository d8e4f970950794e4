"""The clock of the laboratory as `--cost` and `--servers` say."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from penstock.lab.clock import Clock, ClockCosts, JoinCosts, OwnCosts, Servers
    from penstock.stats.costs import Costs
    from penstock.stats.known import Known

KNOWN = "known"
"""`--cost known`: the costs that the plan was made with."""


def clock_of(texts: list[str] | None, servers: Servers | None, known: Known) -> Clock:
    """A simulated clock if costs or servers are given, with what predicates take by themselves."""
    from penstock.lab.clock import ClockCosts, JoinCosts, RealClock, SimulatedClock

    if not texts and servers is None:
        return RealClock()
    every, single = dict[str, float](), dict[frozenset[str], dict[str, float]]()
    costs = ClockCosts()
    for text in texts or []:
        if text == KNOWN:
            costs = as_planned(known.costs)
            continue
        inputs, kind, seconds = _read(text)
        (single.setdefault(inputs, {}) if inputs else every)[kind] = seconds
    given = {f.name: every.get(f.name, getattr(costs, f.name)) for f in fields(ClockCosts)}
    joins: dict[frozenset[str], JoinCosts] = {i: JoinCosts(**each) for i, each in single.items()}
    return SimulatedClock(ClockCosts(**given), servers or "shared", own_costs(known), joins)


def own_costs(known: Known) -> OwnCosts:
    """What equalities and conditions take by themselves, as far as somebody has said so."""
    from penstock.lab.clock import OwnCosts

    equalities: dict[frozenset[str], float] = {}
    for group, figure in known.handling.items():
        equalities[group.streams] = equalities.get(group.streams, 0.0) + figure.value
    conditions = {text: each.cost for text, each in known.conditions.items()}
    return OwnCosts(
        equalities,
        {text: cost.value for text, cost in conditions.items() if cost.value and not cost.is_guess},
    )


def as_planned(costs: Costs) -> ClockCosts:
    """The planner's costs by the kinds of work that the laboratory counts."""
    from penstock.lab.clock import ClockCosts

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


def _read(text: str) -> tuple[frozenset[str], str, float]:
    """`probes=1e-6` or, of the join over some inputs, `A C:probes=1e-6`."""
    from penstock.lab.clock import ClockCosts, JoinCosts

    name, _, value = text.partition("=")
    inputs, _, kind = name.rpartition(":")
    kinds = [field.name for field in fields(JoinCosts if inputs else ClockCosts)]
    try:
        seconds = float(value)
    except ValueError:
        seconds = -1.0
    if kind not in kinds or not seconds >= 0:
        hint = f"known, or KIND=SECONDS with one of {', '.join(kinds)}"
        raise typer.BadParameter(f"{text!r} is not {hint}", param_hint="--cost")
    return frozenset(inputs.split()), kind, seconds
