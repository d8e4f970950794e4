"""What is said of a query that no plan can keep up with."""

from __future__ import annotations

from penstock.errors import PlanError
from penstock.plan.decision import Decision
from penstock.plan.force import render_plan
from penstock.query.goal import Steady


def refuse_infeasible(decision: Decision) -> None:
    """Refuse to run what is known not to keep up; guesses refuse nothing."""
    if decision.is_feasible or decision.is_shed or not isinstance(decision.goal, Steady):
        return
    if decision.rests_on_guesses:
        return
    least = min(a.estimate.needed for a in (decision.chosen, *decision.others))
    raise PlanError(
        f"no plan keeps up: the query needs {least:.2f} "
        f"of {decision.capacity:g} CPU-seconds a second\n"
        f"  best plan: {render_plan(decision.plan)}\n  shedding:  {shedding_text(decision)}",
        hint="let it shed with --shed (shed=True), or give it more with --capacity",
    )


def shedding_text(decision: Decision) -> str:
    """`keep 50 % of B: 900 of 1,000 results/s are left`."""
    found = decision.chosen.estimate
    kept = [f"{x:.3g} of {alias}" for alias, x in found.keep.items() if x < 1.0]
    left = f"{found.output_rate:,.4g} of {found.full_rate:,.4g} results/s are left"
    return f"keep {', '.join(kept)}: {left}" if kept else left
