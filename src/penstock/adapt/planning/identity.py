"""The identity of a plan: its text, and of a mesh the classifiers that the text leaves out."""

from __future__ import annotations

from penstock.plan.mesh import Fork, Goes, MeshJoin
from penstock.plan.plan import Plan
from penstock.plan.text.parse import render_plan


def identity(plan: Plan) -> str:
    """A text that plans share only if they do the same, whatever their drop boxes.

    Two meshes may have the same routes, with the same shares, for other tuples.
    """
    text = render_plan(plan)
    if not isinstance(plan, MeshJoin):
        return text
    return " ".join((text, *(_fork(mesh.classifier) for mesh in plan.meshes)))


def _fork(fork: Fork) -> str:
    if isinstance(fork, Goes):
        return str(fork.route)
    test = f"<= {fork.limit}" if fork.limit is not None else f"in {sorted(fork.values)}"
    return f"({fork.attribute} {test}: {_fork(fork.passed)} {_fork(fork.failed)})"
