"""Shedding in a script: the capacity that there is, shared out among queries that may shed.

A query that others read is not shed: what it lacks would be lacking there too, and nobody would
know how much. The rest of the capacity goes where it keeps the largest part of a query's results,
each query counting as much as another. Those who share a join are shed together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from penstock.errors import PlanError
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.optimize.sharing.shed_joins import ShedJoin
from penstock.plan.decision import Decision
from penstock.plan.script import PlannedScript
from penstock.query.script import Member, Script
from penstock.stats.known import Known

_STEPS = 8
"""Capacities at which it is looked how much of a query's results is left."""


@dataclass(frozen=True)
class CapacityPoint:
    """A capacity that a query may be given, and the part of its results that it then gives."""

    capacity: float
    share: float


@dataclass(frozen=True)
class _Step:
    """More capacity for a query, and what it gains."""

    name: str
    by: float
    gain: float

    @property
    def worth(self) -> float:
        return self.gain / self.by


def shed_decisions(
    planned: PlannedScript, known: Mapping[str, Known], options: PlanOptions
) -> dict[str, Decision]:
    """The decisions of a script whose queries do not keep up together, some of them shed.

    Those that are `planned` are without shedding, `known` is what they rest on.
    """
    script, decisions = planned.script, planned.decisions
    curves = {
        name: points
        for name in decisions
        if name in sheddable(script) and (points := _points(known[name], decisions[name], options))
    }
    joins = {
        name: ShedJoin(name, known[name], script.takers(name), decisions, options)
        for name in sheddable_makers(script)
    }
    found = {name: [CapacityPoint(*p) for p in join.points(_STEPS)] for name, join in joins.items()}
    curves |= {name: points for name, points in found.items() if points}
    # Each is planned as if it read its streams by itself.
    capacity = planned.capacity + planned.saved_reading
    shed = {n for name in curves for n in (joins[name].names if name in joins else (name,))}
    fixed = [name for name in decisions if name not in shed]
    spare = capacity - sum(decisions[name].chosen.estimate.needed for name in fixed)
    if not curves or spare < sum(points[0].capacity for points in curves.values()):
        raise _too_much(decisions, fixed, planned.capacity)
    made = dict(decisions)
    for name, given in shared_out(curves, spare).items():
        is_shared = name in joins
        made |= joins[name].at(given) if is_shared else {name: _at(known[name], given, options)}
    return made


def kept_share(planned: PlannedScript) -> float:
    """The part of their results that the queries of a script have left, in their mean."""
    makers = {each.takes.maker for each in planned.script.members if each.takes}
    found = [d.chosen.estimate for name, d in planned.decisions.items() if name not in makers]
    shares = [each.output_rate / each.full_rate if each.full_rate else 1.0 for each in found]
    return sum(shares) / len(shares)


def sheddable(script: Script) -> frozenset[str]:
    """The queries of a script that may be shed by themselves: those that no other reads, and that
    share no join, for what one lacks the others lack; neither outer joins, nor the first rows of
    views."""
    makers = {each.takes.maker for each in script.members if each.takes}
    return frozenset(
        member.name
        for member in script.members
        if member.name not in makers and member.takes is None and _may_shed(script, member)
    )


def sheddable_makers(script: Script) -> frozenset[str]:
    """The members that find combinations for queries all of which may lack some."""
    makers = {each.takes.maker for each in script.members if each.takes}
    return frozenset(
        name for name in makers if all(_may_shed(script, each) for each in script.takers(name))
    )


def _may_shed(script: Script, member: Member) -> bool:
    is_read = any(member.name in each.reads for each in script.members)
    view = member.query.view
    return not is_read and member.query.outer is None and (view is None or view.top is None)


def shared_out(curves: Mapping[str, Sequence[CapacityPoint]], capacity: float) -> dict[str, float]:
    """The capacity of each query, at least that of its first point; the best steps go first."""
    given = {name: points[0].capacity for name, points in curves.items()}
    left = capacity - sum(given.values())
    steps = [step for name, points in curves.items() for step in _steps(name, points)]
    for step in sorted(steps, key=lambda step: -step.worth):
        by = min(step.by, max(left, 0.0))
        given[step.name] += by
        left -= by
    return given


def _steps(name: str, points: Sequence[CapacityPoint]) -> list[_Step]:
    """The steps from point to point along the upper hull, each worth less than the one before."""
    hull: list[CapacityPoint] = []
    for point in points:
        while len(hull) > 1 and _worth(hull[-2], point) >= _worth(hull[-2], hull[-1]):
            hull.pop()
        hull.append(point)
    return [_Step(name, b.capacity - a.capacity, b.share - a.share) for a, b in pairwise(hull)]


def _worth(one: CapacityPoint, other: CapacityPoint) -> float:
    return (other.share - one.share) / (other.capacity - one.capacity)


def _points(known: Known, whole: Decision, options: PlanOptions) -> list[CapacityPoint]:
    """What is left of a query's results at some capacities; none where it cannot be shed."""
    needed, full = whole.chosen.estimate.needed, whole.chosen.estimate.full_rate
    points: list[CapacityPoint] = []
    for step in range(1, _STEPS):
        capacity = needed * step / _STEPS
        try:
            found = _at(known, capacity, options).chosen.estimate
        except PlanError:
            continue
        points.append(CapacityPoint(capacity, found.output_rate / full if full else 1.0))
    return [*points, CapacityPoint(needed, 1.0)] if points else []


def _at(known: Known, capacity: float, options: PlanOptions) -> Decision:
    """The decision for a query that has this capacity to itself."""
    figure = replace(known.capacity, value=capacity)
    return decide(replace(known, capacity=figure), replace(options, sheds=True))


def _too_much(
    decisions: Mapping[str, Decision], fixed: Iterable[str], capacity: float
) -> PlanError:
    names = list(fixed)
    needs = ", ".join(f"{name} {decisions[name].chosen.estimate.needed:,.4g}" for name in names)
    kept = f"\n  not shed: {needs}" if names else ""
    hint = (
        "queries that others read are not shed, nor outer joins, the first rows of a view, or "
        "UNBOUNDED windows without a horizon in the stats file: give more with --capacity, "
    )
    return PlanError(
        f"the queries of the script do not keep up with {capacity:g} CPU-seconds a second, even "
        f"when all that can be is shed{kept}",
        hint=f"{hint}or ask less",
    )
