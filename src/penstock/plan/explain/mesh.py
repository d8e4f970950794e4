"""A mesh explained: its decision trees, its routes, and what they spare."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.plan.explain.quantity import number, percent, seconds
from penstock.plan.mesh import DriverMesh, Fork, Goes, MeshJoin, Split
from penstock.plan.plan import Plan
from penstock.plan.text.mesh_text import operator_names, stage_texts

_SHOWN = 6
"""Of a longer list of texts the beginning is enough."""


def meshes_of(plan: Plan) -> tuple[DriverMesh, ...]:
    """The meshes of more than one route."""
    if not isinstance(plan, MeshJoin):
        return ()
    return tuple(mesh for mesh in plan.meshes if len(mesh.routes) > 1)


def summary(mesh: DriverMesh) -> str:
    """`S: 2 routes, 38 % less work than one (12 µs → 7.4 µs a tuple)`."""
    found = mesh.prospect
    count = f"{mesh.driver}: {len(mesh.routes)} routes"
    if found is None or not found.single:
        return count
    spared = f"{seconds(found.single)} → {seconds(found.mesh)} a tuple"
    less = f"{percent(abs(found.gain))} {'less' if found.gain >= 0 else 'more'}"
    return f"{count}, {less} work than one ({spared})"


def tree_lines(fork: Fork, stem: str = "", hang: str = "") -> Iterator[str]:
    """The decision tree, a test or a route in each line, what passes above what does not."""
    if isinstance(fork, Goes):
        yield f"{stem}route {fork.route + 1}"
        return
    yield f"{stem}{test_text(fork)}"
    yield from tree_lines(fork.passed, f"{hang}├─ yes: ", f"{hang}│       ")
    yield from tree_lines(fork.failed, f"{hang}└─ no: ", f"{hang}       ")


def test_text(split: Split) -> str:
    """`price ≤ 10` or `sector in (bio, tech)`."""
    if split.limit is not None:
        return f"{split.attribute} ≤ {number_text(split.limit)}"
    values = sorted(split.values)
    more = f", … {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    return f"{split.attribute} in ({', '.join(values[:_SHOWN])}{more})"


def number_text(limit: float) -> str:
    """A limit: short numbers as they are, times in full."""
    return number(limit) if abs(limit) < 1e6 and limit >= 0 else f"{limit:.15g}"


def route_rows(mesh: DriverMesh) -> Iterator[tuple[str, str, str, str]]:
    """Of each route: its name, share, seconds a tuple, and stages."""
    costs = mesh.prospect.routes if mesh.prospect else (0.0,) * len(mesh.routes)
    for index, (route, share, cost) in enumerate(
        zip(mesh.routes, mesh.shares, costs, strict=True), start=1
    ):
        yield f"route {index}", percent(share), seconds(cost), " → ".join(stage_texts(route))


def as_data(mesh: DriverMesh) -> dict[str, Any]:
    """The mesh for programs; routes are counted from 0, `gain` is a part of the single route."""
    found = mesh.prospect
    costs = found.routes if found else (None,) * len(mesh.routes)
    return {
        "classifier": _fork_data(mesh.classifier),
        "routes": [
            {
                "order": operator_names(route.operators),
                "stages": [operator_names(stage) for stage in route.stages],
                "share": share,
                "cost": cost,
            }
            for route, share, cost in zip(mesh.routes, mesh.shares, costs, strict=True)
        ],
        "gain": found.gain if found else None,
        "reason": found.reason or None if found else None,
    }


def search_data(plan: MeshJoin) -> dict[str, Any]:
    """How a mesh was searched for, and how its tuples are grouped, for programs."""
    found = plan.search
    return {
        "search": found and found.search,
        "start": found and found.start,
        "stop": str(found.stop) if found and found.stop else None,
        "window": plan.window,
        "ruster": plan.ruster,
    }


def _fork_data(fork: Fork) -> dict[str, Any]:
    if isinstance(fork, Goes):
        return {"route": fork.route}
    test = {"values": sorted(fork.values)} if fork.limit is None else {"limit": fork.limit}
    branches = {"passed": _fork_data(fork.passed), "failed": _fork_data(fork.failed)}
    return {"attribute": fork.attribute, **test, **branches}
