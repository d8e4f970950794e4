"""Where a plan decides the predicates that no key decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from penstock.plan.mesh import Eddy, MeshJoin
from penstock.plan.multiway import Method, MultiwayJoin, ProbeOrder
from penstock.plan.plan import Plan
from penstock.plan.representative import representative
from penstock.plan.text.shape import render_shape
from penstock.plan.tree import TreeJoin, branches, leaves
from penstock.query import Condition, Equality
from penstock.query.keys import key_classes, unkeyed_equalities


@dataclass(frozen=True)
class Visit:
    """One step of a probe order; the driver's own step has no method."""

    alias: str
    method: Method | None


@dataclass(frozen=True)
class Check:
    """A predicate over several inputs, and where it is first decided.

    In a multi-way join that is at a visit of each driver; in a tree at one join, by its shape,
    whoever drives.
    """

    kind: str
    predicate: str
    places: tuple[tuple[str | None, str], ...]

    @property
    def where(self) -> str:
        """`at C from A, B; at A from C`, or `at (A C)`."""
        if not self.places:
            return "as soon as its inputs are bound"
        drivers: dict[str, list[str]] = {}
        for driver, place in self.places:
            drivers.setdefault(place, []).extend([] if driver is None else [driver])
        return "; ".join(
            f"at {place} from {', '.join(who)}" if who else f"at {place}"
            for place, who in drivers.items()
        )


def checks_of(plan: Plan) -> Iterator[Check]:
    """The theta predicates, then the equalities that equal hashes do not prove."""
    query = plan.query
    for theta in query.thetas:
        if not _is_on_routes(plan, theta):
            yield Check("theta", str(theta), _places(plan, theta))
    for equality in unkeyed_equalities(query, key_classes(query)):
        yield Check("verify", str(equality), _places(plan, equality))


def visits_of(order: ProbeOrder) -> tuple[Visit, ...]:
    """The probes of an order, with the new tuples in their place among them."""
    probes = [Visit(probe.target, probe.method) for probe in order.probes]
    return (*probes[: order.position], Visit(order.driver, None), *probes[order.position :])


def _places(plan: Plan, predicate: Condition | Equality) -> tuple[tuple[str | None, str], ...]:
    match plan:
        case TreeJoin():
            return ((None, _lowest_join(plan, predicate)),)
        case MultiwayJoin() | MeshJoin():
            orders = representative(plan).driving
            mine = (order for order in orders if predicate.streams <= order.members)
            return tuple((order.driver, _first_bound(order, predicate)) for order in mine)
        case Eddy():
            return ()
        case _:
            assert_never(plan)


def _is_on_routes(plan: Plan, theta: Condition) -> bool:
    """Whether a predicate is a filter that waits and stands in the routes of a mesh."""
    return isinstance(plan, MeshJoin) and len(theta.streams) == 1


def _first_bound(order: ProbeOrder, predicate: Condition | Equality) -> str:
    missing = set(predicate.streams)
    for visit in visits_of(order):
        missing.discard(visit.alias)
        if not missing:
            return visit.alias
    raise AssertionError("the order has all of its inputs")


def _lowest_join(tree: TreeJoin, predicate: Condition | Equality) -> str:
    lowest = next(b for b in branches(tree.root) if predicate.streams <= set(leaves(b)))
    return render_shape(lowest)
