"""The identity of a plan: its text, with which tuples of a mesh take which route."""

from __future__ import annotations

from penstock.plan.plan import Plan
from penstock.plan.text.parse import render_plan


def identity(plan: Plan) -> str:
    """A text that plans share only if they do the same, whatever their drop boxes."""
    return render_plan(plan)
