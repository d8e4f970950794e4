"""The classifiers of all streams as one: their trees side by side, over the rows of the kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.routes.classifying import prepared
from penstock.engine.rows.columns import ARRIVAL, TS
from penstock.errors import PlanError
from penstock.kernels.classify import LEAF, FlatTree
from penstock.lab.kernels.routing import Trees
from penstock.plan.mesh import DriverMesh, MeshJoin, attributes_of

Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Forest:
    """The trees of all inputs, and what they look at: `values[a]` is attribute a of each row.

    It `is_needed` if any tuple has a choice.
    """

    trees: Trees
    values: Floats
    is_needed: bool


def forest_of(plan: MeshJoin, rows: Mapping[str, pa.Table], starts: Int64s) -> Forest:
    """The classifiers of a mesh; its routes are numbered through, one driver's after another's."""
    trees: dict[int, FlatTree] = {}
    widest = max(len(attributes_of(mesh)) for mesh in plan.meshes)
    values = np.full((widest, sum(map(len, rows.values()))), np.nan)
    first = 0
    for mesh in plan.meshes:
        if len(mesh.routes) > 1:
            number, own = plan.query.aliases.index(mesh.driver), rows[mesh.driver]
            _refuse_strange(mesh, own)
            tree, looked_at = prepared(mesh, own)
            values[: len(looked_at), starts[number] : starts[number] + len(own)] = looked_at
            trees[number] = tree._replace(routes=tree.routes + first)
        first += len(mesh.routes)
    return Forest(_side_by_side(trees, len(rows)), values, is_needed=bool(trees))


def _side_by_side(trees: Mapping[int, FlatTree], inputs: int) -> Trees:
    """One tree after another, with all numbers moved up by what comes before."""
    roots, depths = np.full(inputs, -1), np.zeros(inputs, np.int64)
    parts: list[FlatTree] = []
    nodes, members = 0, 1
    for number, tree in trees.items():
        roots[number], depths[number] = nodes, _depth(tree, 0)
        own = np.arange(len(tree.columns))
        is_leaf = tree.columns == LEAF
        moved = tree._replace(
            columns=np.where(is_leaf, 0, tree.columns),
            firsts=np.where(tree.firsts < 0, 0, tree.firsts + members),
            passed=np.where(is_leaf, own, tree.passed) + nodes,
            failed=np.where(is_leaf, own, tree.failed) + nodes,
        )
        parts.append(moved)
        nodes, members = nodes + len(own), members + len(tree.members)
    return Trees(
        roots=roots,
        depths=depths,
        columns=_joined([part.columns for part in parts]),
        limits=np.concatenate([np.empty(0), *(part.limits for part in parts)]),
        firsts=_joined([part.firsts for part in parts]),
        nexts=np.stack([_joined([p.failed for p in parts]), _joined([p.passed for p in parts])], 1),
        routes=_joined([part.routes for part in parts]).astype(np.int32),
        members=np.concatenate([np.zeros(1, np.bool_), *(part.members for part in parts)]),
    )


def _joined(parts: list[Int64s]) -> Int64s:
    return np.concatenate([np.empty(0, np.int64), *parts])


def _depth(tree: FlatTree, node: int) -> int:
    if tree.columns[node] == LEAF:
        return 0
    return 1 + max(_depth(tree, tree.passed[node]), _depth(tree, tree.failed[node]))


def _refuse_strange(mesh: DriverMesh, rows: pa.Table) -> None:
    columns = [name for name in rows.column_names if name not in (TS, ARRIVAL)]
    strange = next((name for name in attributes_of(mesh) if name not in columns), None)
    if strange is not None:
        raise PlanError(
            f"the mesh of {mesh.driver} looks at {strange}, which its tuples do not have",
            hint=f"they have {', '.join(columns)}",
        )
