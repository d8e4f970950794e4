"""Physical choices by cost: methods of search, bucket counts, cleaning of windows, and τ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf, sqrt
from typing import assert_never

from penstock.engines import EngineName
from penstock.optimize.model.problem import Problem, gain
from penstock.optimize.model.rounds import batch_seconds
from penstock.optimize.model.work import probe_key
from penstock.plan.decision import Estimate
from penstock.plan.mesh import DriverMesh, Eddy, MeshJoin, MeshRoute
from penstock.plan.multiway import Method, MultiwayJoin, Probe, ProbeOrder
from penstock.plan.physical import Physical
from penstock.plan.plan import Plan
from penstock.plan.representative import probe_order, representative
from penstock.plan.tree import Branch, Leaf, Node, TreeJoin, branches, leaves

LONGEST = 3600.0
"""Seconds from which on a batch is not worth waiting for."""

Search = tuple[int, int, int | None, float]
"""Who searches (a set), in what (a set), by which key class, and how often a second."""


def with_methods(problem: Problem, plan: Plan) -> Plan:
    """The plan with every search by nested loops or by hash, whichever costs less.

    Looking at a small window is cheaper than hashing; a join without a key has no choice. This is
    for the laboratory: the batch engines always search sorted chunks.
    """
    match plan:
        case TreeJoin(root=root):
            return replace(plan, root=_with_methods(problem, root))
        case MultiwayJoin(orders=orders):
            return replace(plan, orders=tuple(_order(problem, order) for order in orders))
        case MeshJoin(meshes=meshes):
            return replace(plan, meshes=tuple(_mesh(problem, mesh) for mesh in meshes))
        case Eddy():
            return plan
        case _:
            assert_never(plan)


def physical_choices(problem: Problem, plan: Plan, found: Estimate, engine: EngineName) -> Physical:
    """The choices for a plan with its estimate; only the laboratory hashes and cleans windows."""
    interval = _interval(problem, plan, found)
    if engine != "laboratory":
        return Physical({}, 0.0, interval)
    return Physical(buckets_of(problem, plan), _expiration(problem, plan), interval)


def _with_methods(problem: Problem, node: Node) -> Node:
    if isinstance(node, Leaf):
        return node
    left, right = problem.mask(leaves(node.left)), problem.mask(leaves(node.right))
    return Branch(
        _with_methods(problem, node.left),
        _with_methods(problem, node.right),
        _better(problem, ((left, right), (right, left)), problem.shared_key(left, right)),
    )


def _order(problem: Problem, order: ProbeOrder) -> ProbeOrder:
    probes = tuple(
        Probe(
            problem.query.aliases[target.bit_length() - 1],
            _better(problem, ((bound, target),), key),
        )
        for bound, target, key in _visits(problem, order)
    )
    return replace(order, probes=probes)


def _mesh(problem: Problem, mesh: DriverMesh) -> DriverMesh:
    return replace(mesh, routes=tuple(_route(problem, mesh.driver, r) for r in mesh.routes))


def _route(problem: Problem, driver: str, route: MeshRoute) -> MeshRoute:
    probes = {p.target: p for p in _order(problem, probe_order(driver, route)).probes}
    return MeshRoute(
        tuple(
            tuple(probes[o.target] if isinstance(o, Probe) else o for o in stage)
            for stage in route.stages
        )
    )


def _better(problem: Problem, searches: tuple[tuple[int, int], ...], key: int | None) -> Method:
    """The method for those who search and the windows in which they do, one way or both ways."""
    if key is None:
        return "nested"
    costs = problem.known.costs
    if costs.join is not None:
        return "hash"
    spared = 0.0
    for bound, target in searches:
        size = float(problem.alive[target])
        found = size * float(gain(problem.key_fraction(key), bound, target))
        rate = float(problem.rates[bound])
        spared += rate * (costs.hash - costs.compare * (size - found))
    return "nested" if spared > 0.0 else "hash"


def _visits(problem: Problem, order: ProbeOrder) -> Iterator[tuple[int, int, int | None]]:
    bound, here = problem.mask([order.driver]), None
    for probe in order.probes:
        target = problem.mask([probe.target])
        key = probe_key(problem, bound, target, here)
        yield bound, target, key
        bound, here = bound | target, None if probe.method == "nested" else key


def buckets_of(problem: Problem, plan: Plan) -> dict[str, int]:
    """About a bucket for each tuple of the window: a larger window gets more (G&O §4)."""
    hashed = {
        problem.query.aliases[i]
        for _, target, key, _ in searches(problem, plan)
        if key is not None
        for i in problem.members(target)
    }
    sizes = {flow.alias: flow.window for flow in problem.inputs}
    return {
        alias: 1 << max(0, round(sizes[alias]) - 1).bit_length()
        for alias in problem.query.aliases
        if alias in hashed and sizes[alias] < inf
    }


def _expiration(problem: Problem, plan: Plan) -> float:
    """Seconds between two cleanings: rarer ones leave dead tuples to be looked at (G&O Fig. 4).

    At an interval of t, looking at all windows costs `n·expire/t` a second, and the `λt/2` dead
    tuples that a window then holds are looked at by every search: least where both are equal.
    """
    costs = problem.known.costs
    dead = 0.0
    for bound, target, key, rate in searches(problem, plan):
        share = 1.0 if key is None else float(gain(problem.key_fraction(key), bound, target))
        dead += rate * share * costs.compare * float(problem.rates[target]) / 2
    sweep = problem.size * costs.expire
    return sqrt(sweep / dead) if dead and sweep else 0.0


def searches(problem: Problem, plan: Plan) -> Iterator[Search]:
    """All searches of a plan."""
    match plan:
        case TreeJoin(root=root):
            yield from _both_ways(problem, root)
        case MultiwayJoin() | MeshJoin() | Eddy():
            yield from _probes(problem, representative(plan))
        case _:
            assert_never(plan)


def _both_ways(problem: Problem, root: Node) -> Iterator[Search]:
    """The searches of a tree: each side of a join looks for its new rows on the other."""
    for branch in branches(root):
        left, right = problem.mask(leaves(branch.left)), problem.mask(leaves(branch.right))
        key = None if branch.method == "nested" else problem.shared_key(left, right)
        for bound, target in ((left, right), (right, left)):
            yield bound, target, key, float(problem.rates[bound])


def _probes(problem: Problem, plan: MultiwayJoin) -> Iterator[Search]:
    for order in plan.orders:
        driver = problem.query.aliases.index(order.driver)
        visits = zip(order.probes, _visits(problem, order), strict=True)
        for probe, (bound, target, key) in visits:
            others = float(problem.window_products[bound ^ (1 << driver)])
            rate = problem.inputs[driver].rate * problem.fraction(bound) * others
            yield bound, target, None if probe.method == "nested" else key, rate


def _interval(problem: Problem, plan: Plan, found: Estimate) -> float | None:
    """The shortest τ at which the work of an interval and the start of its batch fit into it.

    None where none is: of a plan that sheds, only rounding would leave some of the capacity.
    """
    spare = problem.known.capacity.value - found.utilization
    start = batch_seconds(problem, plan)
    if not start:
        return 0.0
    return start / spare if spare > 0 and start / spare <= LONGEST else None
