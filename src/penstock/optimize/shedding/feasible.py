"""Refusals of, and remarks on, a query that no plan can keep up with."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.errors import PlanError
from penstock.plan.decision import Decision
from penstock.plan.explain.verdict import needs_text
from penstock.plan.text.parse import render_plan
from penstock.query.goal import Steady


def refuse_infeasible(decision: Decision) -> None:
    """Refuse to run what is known not to keep up; guesses refuse nothing."""
    if _may_run(decision) or decision.rests_on_guesses:
        return
    needs = needs_text(decision)
    if decision.is_forced:
        raise PlanError(
            f"the plan forced by --plan does not keep up: it needs {needs}\n"
            f"  plan: {render_plan(decision.plan)}",
            hint="let it shed with --shed (shed=True), give it more with --capacity, or leave the "
            "choice to the planner",
        )
    raise PlanError(
        f"no plan keeps up: the query needs {needs}\n  best plan: {render_plan(decision.plan)}",
        hint="let it shed with --shed (shed=True; explain shows what), or give it more with "
        "--capacity",
    )


def doubts(decision: Decision) -> Iterator[str]:
    """Remarks on a query that is not refused only because guesses speak against it."""
    if not _may_run(decision) and decision.rests_on_guesses:
        yield (
            f"by guessed figures it does not keep up: it needs {needs_text(decision)}; "
            "penstock explain says which are guessed"
        )


def _may_run(decision: Decision) -> bool:
    return decision.is_feasible or decision.is_shed or not isinstance(decision.goal, Steady)
