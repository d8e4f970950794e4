"""The rounds of work that a plan has in every batch: what must move waits for the next one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from penstock.optimize.model.problem import Problem
from penstock.optimize.model.work import probe_key
from penstock.plan.mesh import Eddy, MeshJoin
from penstock.plan.multiway import MultiwayJoin, ProbeOrder
from penstock.plan.plan import Plan
from penstock.plan.representative import probe_order, representative
from penstock.plan.tree import Leaf, Node, TreeJoin


def rounds_of(problem: Problem, plan: Plan) -> int:
    """The rounds of a batch on Spark, as the engine has them."""
    match plan:
        case TreeJoin(root=root):
            return _found(problem, root).round + 1
        case MeshJoin(meshes=meshes):
            routes = (probe_order(mesh.driver, r) for mesh in meshes for r in mesh.routes)
            return _most_legs(problem, routes)
        case MultiwayJoin() | Eddy():
            return _most_legs(problem, representative(plan).driving)
        case _:
            assert_never(plan)


def _most_legs(problem: Problem, orders: Iterable[ProbeOrder]) -> int:
    return max((_legs(problem, order) for order in orders), default=1)


def batch_seconds(problem: Problem, plan: Plan) -> float:
    """Seconds that a batch takes however little is in it."""
    costs = problem.known.costs
    return costs.batch + costs.round * rounds_of(problem, plan)


def _legs(problem: Problem, order: ProbeOrder) -> int:
    """Visits by one key after another are made in one place; without a key every visit moves."""
    bound, here, legs = problem.mask([order.driver]), None, 0
    for probe in order.probes:
        target = problem.mask([probe.target])
        key = probe_key(problem, bound, target, here)
        legs += 1 if key is None or key != here else 0
        bound, here = bound | target, key
    return max(1, legs)


@dataclass(frozen=True)
class _Found:
    """Of a sub-tree: its inputs, the round that finds its results, and the key they lie by."""

    mask: int
    round: int
    key: int | None


def _found(problem: Problem, node: Node) -> _Found:
    if isinstance(node, Leaf):
        return _Found(problem.mask([node.alias]), 0, None)
    sides = _found(problem, node.left), _found(problem, node.right)
    left, right = sides
    shared = [k for k, m in enumerate(problem.key_masks) if m & left.mask and m & right.mask]
    key = next(iter((*(s.key for s in sides if s.key in shared), *shared)), None)
    ready = [side.round + (0 if _is_there(side, key) else 1) for side in sides]
    return _Found(left.mask | right.mask, max(ready), key)


def _is_there(side: _Found, key: int | None) -> bool:
    """Whether a side's rows need not move: tuples are kept by all their keys."""
    return side.mask.bit_count() == 1 or (key is not None and side.key == key)
