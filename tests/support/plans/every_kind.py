"""Plans of every kind that a query can be run by, whatever the streams are like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from penstock.plan.mesh import Eddy, MeshJoin
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from penstock.plan.tree import TreeJoin
from penstock.query import Query
from support.engines.runs import planned, random_plan, random_tree
from support.plans.meshes import random_mesh

KINDS = ("multi-way", "tree", "mesh", "eddy")


def kind_of(plan: Plan) -> str:
    """The name of a plan's kind."""
    names = {MultiwayJoin: "multi-way", TreeJoin: "tree", MeshJoin: "mesh", Eddy: "eddy"}
    return names[type(plan)]


def kinds_for(query: Query) -> tuple[str, ...]:
    """The kinds of plans that batches can follow: explain says why of the others."""
    is_numbered = query.is_sequenced and len(query.inputs) > 1
    impossible = {"mesh"} if is_numbered else set()
    return tuple(kind for kind in KINDS if kind not in impossible)


def any_kind(query: Query, rng: Random) -> Plan:
    """Any plan at all: kind, orders, shape, routes, early inputs and what is recomputed."""
    return any_of(rng.choice(kinds_for(query)), query, rng)


def any_of(kind: str, query: Query, rng: Random) -> Plan:
    """Any plan of a kind."""
    return _DRAWN[kind](query, rng)


def _multiway(query: Query, rng: Random) -> Plan:
    plan = planned(query, random_plan(query, rng))
    assert isinstance(plan, MultiwayJoin)
    drivers = [item.alias for item in query.streams]
    may_recompute = query.view is not None and len(drivers) > 1 and not query.is_sequenced
    recompute = rng.choice((None, *drivers)) if may_recompute else None
    return replace(plan, early=_early(query, rng), recompute=recompute)


def _tree(query: Query, rng: Random) -> Plan:
    return replace(random_tree(query, rng), early=_early(query, rng))


def _eddy(query: Query, rng: Random) -> Plan:
    return Eddy(query, rng.choice((1, 7, 100)))


def _early(query: Query, rng: Random) -> tuple[str, ...]:
    share = rng.choice((0.0, 0.5, 1.0)) if query.view is not None else 0.0
    return tuple(alias for alias in query.aliases if rng.random() < share)


_DRAWN: dict[str, Callable[[Query, Random], Plan]] = {
    "multi-way": _multiway,
    "tree": _tree,
    "mesh": random_mesh,
    "eddy": _eddy,
}
