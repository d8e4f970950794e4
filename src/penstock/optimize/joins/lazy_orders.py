"""Joins every τ seconds: loops in which new tuples need not come first (G&O §3.3, §5.2).

Loops are weighed as `papers.multi_join.driver_cost` does, in seconds instead of comparisons, with
what a visit and a hash take.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations

from penstock.optimize.joins.ordering import general_lazy
from penstock.optimize.joins.sequence import match
from penstock.optimize.model.problem import Problem, gain
from penstock.plan.multiway import Method, MultiwayJoin, Probe, ProbeOrder
from penstock.plan.physical import Lazily

EVERY_LOOP = 5
"""Inputs up to which all orders of loops are weighed, 120 for each driver."""
_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Parts of the shortest window that are weighed as τ: the paper goes up to a half."""
CLEARLY = 0.9
"""Joining seldom is worth the wait if it takes at most so much of the work."""


def lazier(problem: Problem, plan: MultiwayJoin, tau: float) -> MultiwayJoin:
    """The plan for joins every τ seconds: each driver with its best loops, new tuples anywhere."""
    return replace(plan, orders=tuple(_best(problem, order, tau) for order in plan.orders))


def lazily(problem: Problem, plan: MultiwayJoin, tau: float) -> Lazily | None:
    """How a plan is run every τ seconds, against the same windows joined eagerly in any order.

    None if no tuple ever comes.
    """
    eager = work_every(problem, lazier(problem, plan, 0.0), 0.0)
    if not eager:
        return None
    behind = tuple(order.driver for order in plan.orders if order.position)
    return Lazily(tau, work_every(problem, plan, tau) / eager, behind)


def proposed(problem: Problem, plan: MultiwayJoin) -> Lazily | None:
    """The τ at which general lazy loops take the least work, if that is clearly less than eagerly.

    Only loops whose new tuples do not come first count: others spare nothing by waiting.
    """
    longest = min(f.window / f.rate for f in problem.inputs if f.rate) if _moves(problem) else 0.0
    found = [
        lazily(problem, lazier(problem, plan, share * longest), share * longest)
        for share in _SHARES
        if longest
    ]
    clear = [each for each in found if each and each.behind and each.work <= CLEARLY]
    return min(clear, key=lambda each: each.work, default=None)


def work_every(problem: Problem, plan: MultiwayJoin, tau: float) -> float:
    """Seconds of work a second that the loops of a plan take every τ seconds; 0 is eagerly."""
    return sum(_seconds(problem, order, tau) for order in plan.orders)


def _moves(problem: Problem) -> bool:
    return any(flow.rate for flow in problem.inputs)


def _best(problem: Problem, order: ProbeOrder, tau: float) -> ProbeOrder:
    return min(
        (order, *_others(problem, order, tau)),
        key=lambda each: (round(_seconds(problem, each, tau), 15), each.position),
    )


def _others(problem: Problem, order: ProbeOrder, tau: float) -> Iterator[ProbeOrder]:
    """Loops of a driver: all of few inputs, beyond that those of the rule (G&O §5.2)."""
    methods: dict[str, Method] = {probe.target: probe.method for probe in order.probes}
    if problem.size > EVERY_LOOP:
        rule = next(o for o in general_lazy(problem, tau) if o.driver == order.driver)
        yield replace(rule, probes=_probes(rule.targets, methods))
        return
    for targets in permutations(order.targets):
        for position in range(len(targets) + 1 if tau else 1):
            yield ProbeOrder(order.driver, _probes(targets, methods), position)


def _probes(targets: Sequence[str], methods: dict[str, Method]) -> tuple[Probe, ...]:
    return tuple(Probe(target, methods[target]) for target in targets)


def _seconds(problem: Problem, order: ProbeOrder, tau: float) -> float:
    """Seconds a second of one driver's loops."""
    flows = {flow.alias: flow for flow in problem.inputs}
    rate = flows[order.driver].rate
    if not rate:
        return 0.0
    new, interval = (rate * tau, tau) if tau else (1.0, 1 / rate)
    methods = {probe.target: probe.method for probe in order.probes}
    matched, total, bound = 1.0, 0.0, 0
    for name in (*order.targets[: order.position], order.driver, *order.targets[order.position :]):
        flow, target = flows[name], problem.mask([name])
        tuples = new if name == order.driver else flow.window + flow.rate * tau
        if bound:
            visit, share = _visit(problem, bound, target, methods.get(name, "nested"))
            total += matched * (visit + tuples * share * _compare(problem))
            tuples *= match(problem, bound, problem.places[name])
        matched *= tuples
        bound |= target
    return total / interval


def _visit(problem: Problem, bound: int, target: int, method: Method) -> tuple[float, float]:
    """Seconds for a visit, and the part of the window that is looked at."""
    costs = problem.known.costs
    key = None if method == "nested" else problem.shared_key(bound, target)
    probing = costs.probe if costs.join is None else 0.0
    if key is None:
        return probing, 1.0
    hashing = costs.hash if costs.join is None else 0.0
    return probing + hashing, float(gain(problem.key_fraction(key), bound, target))


def _compare(problem: Problem) -> float:
    """Seconds for a comparison; where costs do not tell them from other work, they alone count."""
    costs = problem.known.costs
    return costs.compare if costs.join is None else 1.0
