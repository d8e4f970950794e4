"""Another plan for a running query, as users give it."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from penstock.errors import PlanError
from penstock.plan.plan import Plan
from penstock.plan.text.parse import forced_plan


class Planned(Protocol):
    """Something that has a plan: a query, or the planner's decision."""

    @property
    def plan(self) -> Plan: ...


def plan_of(given: Plan | Planned | str, running: Plan) -> Plan:
    """The plan given; a text is one for the running query, which goes on to shed as it does."""
    if isinstance(given, str):
        return replace(forced_plan(running.query, given), drops=running.drops)
    plan = given if isinstance(given, Plan) else getattr(given, "plan", None)
    if not isinstance(plan, Plan):
        raise PlanError(
            f"{given!r} is not a plan",
            hint="give a query of ps.sql(…), its plan, or a text as explain prints it",
        )
    return plan
