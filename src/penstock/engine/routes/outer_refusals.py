"""Plans that a query with an outer join cannot follow, refused by name."""

from __future__ import annotations

from penstock.errors import PlanError
from penstock.plan.mesh import Eddy, MeshJoin
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from penstock.plan.tree import TreeJoin


def refuse_for_outer_join(plan: Plan) -> None:
    """Nothing, if the pairs of an outer join may be found by the plan."""
    outer = plan.query.outer
    fault = None if outer is None else _fault(plan, is_of_pairs=outer.has_pairs)
    if outer is not None and fault is not None:
        raise PlanError(
            f"{fault[0]}, but the query has {outer.name}",
            hint=fault[1],
        )


def _fault(plan: Plan, *, is_of_pairs: bool) -> tuple[str, str] | None:
    multiway = "its plans are multi-way joins" + (" and trees" if is_of_pairs else "")
    if isinstance(plan, MeshJoin | Eddy):
        return "the plan is a mesh or an eddy", multiway
    if isinstance(plan, TreeJoin) and not is_of_pairs:
        return "the plan is a tree", multiway
    if plan.early:
        return f"the plan aggregates {', '.join(plan.early)} early", "leave out `early`"
    if isinstance(plan, MultiwayJoin) and plan.recompute is not None:
        return "the plan recomputes the view", "leave out `recompute`"
    if plan.drops.kept or plan.drops.may_shed:
        return "the plan sheds", "do not shed: who has lost its partner would seem to have none"
    return None
