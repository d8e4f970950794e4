"""Steps: what each operator of a plan joins, so that what it found can be read as figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import dropwhile

from penstock.plan.mesh import DriverMesh, Eddy, MeshJoin, MeshRoute, Operator, Screen
from penstock.plan.multiway import MultiwayJoin, ProbeOrder
from penstock.plan.plan import Plan
from penstock.plan.representative import probe_order
from penstock.plan.text.notation import quote
from penstock.plan.tree import TreeJoin, branches, leaves
from penstock.query import Query

Place = tuple[str, int, str]
"""The driver, the number of its route, and what is probed, as reports name them."""


@dataclass(frozen=True)
class Step:
    """A probe: what is bound before it, and what it finds."""

    bound: frozenset[str]
    target: frozenset[str]


def steps_of(plan: Plan) -> Mapping[Place, Step]:
    """The probes of a plan by their places in reports; of an eddy, which has no order, none."""
    match plan:
        case MultiwayJoin():
            return dict(_of_orders(plan.driving))
        case MeshJoin():
            return dict(step for mesh in plan.meshes for step in _of_mesh(mesh))
        case TreeJoin():
            return dict(_of_tree(plan))
        case Eddy():
            return {}


def inner_names(plan: Plan) -> Mapping[str, frozenset[str]]:
    """The members of the inner joins of a tree, by the names of their state."""
    if not isinstance(plan, TreeJoin):
        return {}
    sets = [frozenset(leaves(branch)) for branch in branches(plan.root) if branch is not plan.root]
    return {_name(plan.query, members): members for members in sets}


def _of_orders(orders: Iterable[ProbeOrder]) -> Iterator[tuple[Place, Step]]:
    """Where a driver has several orders, they are numbered as the engine does."""
    numbers: Counter[str] = Counter()
    for order in orders:
        yield from _ordered(order, numbers[order.driver])
        numbers[order.driver] += 1


def _ordered(order: ProbeOrder, route: int) -> Iterator[tuple[Place, Step]]:
    bound = frozenset([order.driver])
    for target in order.targets:
        yield (order.driver, route, target), Step(bound, frozenset([target]))
        bound |= {target}


def _of_mesh(mesh: DriverMesh) -> Iterator[tuple[Place, Step]]:
    """Routes are numbered as the engine does, which has those once that differ in filters only.

    In what order the probes of an uncertain route come, a lottery decides.
    """
    if all(route.is_certain for route in mesh.routes):
        ways = dict.fromkeys(_after_first_probe(route) for route in mesh.routes)
        for number, way in enumerate(ways):
            yield from _ordered(probe_order(mesh.driver, MeshRoute((way,))), number)


def _after_first_probe(route: MeshRoute) -> tuple[Operator, ...]:
    return tuple(dropwhile(lambda operator: isinstance(operator, Screen), route.operators))


def _of_tree(plan: TreeJoin) -> Iterator[tuple[Place, Step]]:
    for branch in branches(plan.root):
        left, right = frozenset(leaves(branch.left)), frozenset(leaves(branch.right))
        for mine, other in ((left, right), (right, left)):
            yield (_name(plan.query, mine), 0, _name(plan.query, other)), Step(mine, other)


def _name(query: Query, members: frozenset[str]) -> str:
    """An input by its alias, an inner join by those of its inputs in the order of FROM."""
    if len(members) == 1:
        return next(iter(members))
    return f"({' '.join(quote(alias) for alias in query.aliases if alias in members)})"
