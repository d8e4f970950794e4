"""Shapes: a plan's kind and structure in a few signs, as explain prints and `--plan` takes them."""

from __future__ import annotations

from penstock.plan.multiway import MultiwayJoin
from penstock.plan.notation import quote
from penstock.plan.plan import Plan
from penstock.plan.tree import Leaf, Node, is_left_deep


def shape_of(plan: Plan) -> str:
    """`((A B) C)` of a tree, `(A B C)` of a multi-way join."""
    if isinstance(plan, MultiwayJoin):
        return f"({' '.join(quote(alias) for alias in plan.query.aliases)})"
    return render_shape(plan.root)


def render_shape(node: Node) -> str:
    """`((A B) C)`, by alias alone."""
    if isinstance(node, Leaf):
        return quote(node.alias)
    return f"({render_shape(node.left)} {render_shape(node.right)})"


def kind_of(plan: Plan) -> str:
    """`multiway` or `tree`."""
    return "multiway" if isinstance(plan, MultiwayJoin) else "tree"


def describe(plan: Plan) -> str:
    """`left-deep tree`, `bushy tree` or `multi-way join`."""
    if isinstance(plan, MultiwayJoin):
        return "multi-way join"
    return "left-deep tree" if is_left_deep(plan.root) else "bushy tree"
