"""Plans as text, of any kind, for `--plan`; explain prints the same."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from penstock.plan.default_plan import default_plan
from penstock.plan.mesh import Eddy, MeshJoin
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan, recomputed_by
from penstock.plan.text.early_text import cut_early, render_early
from penstock.plan.text.mesh_parse import forced_mesh, is_mesh
from penstock.plan.text.mesh_text import forced_eddy, render_eddy, render_mesh
from penstock.plan.text.notation import read_words, refuse
from penstock.plan.text.orders_text import forced_orders, render_orders
from penstock.plan.text.tree_text import forced_tree, render_tree
from penstock.plan.tree import TreeJoin
from penstock.query import Query

_TEXT = "_text"
"""Where a plan keeps its text, as a cached property would."""


def forced_plan(query: Query, text: str) -> Plan:
    """The plan that a text describes: probe orders, the shape of a tree or multi-way join, a mesh,
    or `eddy`.

    After orders and shapes may stand which inputs are aggregated early, and after these which
    stream drives if the view is recomputed.
    """
    eddy = forced_eddy(query, text)
    if eddy is not None:
        return eddy
    if is_mesh(query, text):
        return forced_mesh(query, text)
    join, early, driver = cut_early(query, text)
    plan = replace(_forced_join(query, join), early=early)
    if driver is None:
        return plan
    if not isinstance(plan, MultiwayJoin):
        hint = "only a multi-way join is: write the plan as `A: B; B: A` or `(A B C)`"
        refuse("a tree is not recomputed", driver.place, hint)
    return replace(plan, recompute=driver.text)


def _forced_join(query: Query, text: str) -> Plan:
    if is_flat(query, text):
        return default_plan(query)
    return forced_tree(query, text) if _is_shape(text) else forced_orders(query, text)


def is_flat(query: Query, text: str) -> bool:
    """Whether a text is the shape of the multi-way join, `(A B C)`, which names no orders."""
    if is_mesh(query, text):
        return False
    text, _, _ = cut_early(query, text)
    if not _is_shape(text):
        return False
    names = [word.text for word in read_words(text) if word.is_name]
    signs = [word.text for word in read_words(text) if not word.is_name]
    return signs == ["(", ")"] and len(names) != 2 and sorted(names) == sorted(query.aliases)


def render_plan(plan: Plan) -> str:
    """The text that `forced_plan` turns into this plan; the shares of a mesh are rounded.

    Plans are known by their texts in many places, so that each keeps its own once it was asked for.
    """
    kept = vars(plan)
    if _TEXT not in kept:
        kept[_TEXT] = _render_join(plan) + render_early(plan.early, recomputed_by(plan))
    return str(kept[_TEXT])


def _render_join(plan: Plan) -> str:
    match plan:
        case MultiwayJoin():
            return render_orders(plan)
        case TreeJoin():
            return render_tree(plan)
        case MeshJoin():
            return render_mesh(plan)
        case Eddy():
            return render_eddy(plan)
        case _:
            assert_never(plan)


def _is_shape(text: str) -> bool:
    first = next(read_words(text), None)
    return first is not None and not first.is_name and first.text in "()"
