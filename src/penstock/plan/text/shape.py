"""Shapes: a plan's kind and structure in a few signs, as explain prints and `--plan` takes them."""

from __future__ import annotations

from typing import assert_never

from penstock.plan.mesh import Eddy, MeshJoin
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from penstock.plan.text.notation import quote
from penstock.plan.tree import Leaf, Node, TreeJoin, is_left_deep


def shape_of(plan: Plan) -> str:
    """`((A B) C)` of a tree, `(A B C)` of all that join everything at once."""
    match plan:
        case TreeJoin(root=root):
            return render_shape(root)
        case MultiwayJoin() | MeshJoin() | Eddy():
            return f"({' '.join(quote(alias) for alias in plan.query.aliases)})"
        case _:
            assert_never(plan)


def render_shape(node: Node) -> str:
    """`((A B) C)`, by alias alone."""
    if isinstance(node, Leaf):
        return quote(node.alias)
    return f"({render_shape(node.left)} {render_shape(node.right)})"


def kind_of(plan: Plan) -> str:
    """`multiway`, `tree`, `mesh` or `eddy`."""
    match plan:
        case MultiwayJoin():
            return "multiway"
        case TreeJoin():
            return "tree"
        case MeshJoin():
            return "mesh"
        case Eddy():
            return "eddy"
        case _:
            assert_never(plan)


def describe(plan: Plan) -> str:
    """`left-deep tree`, `bushy tree`, `multi-way join`, `query mesh` or `eddy`."""
    match plan:
        case MultiwayJoin():
            return "multi-way join"
        case TreeJoin(root=root):
            return "left-deep tree" if is_left_deep(root) else "bushy tree"
        case MeshJoin():
            return "query mesh"
        case Eddy():
            return "eddy"
        case _:
            assert_never(plan)
