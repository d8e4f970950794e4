"""A plan: what will be done, of any kind."""

from __future__ import annotations

from penstock.plan.mesh import Eddy, MeshJoin
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.tree import TreeJoin

Plan = MultiwayJoin | TreeJoin | MeshJoin | Eddy


def recomputed_by(plan: Plan) -> str | None:
    """The stream that drives a plan which recomputes its view; None for all other plans."""
    return plan.recompute if isinstance(plan, MultiwayJoin) else None
