"""What is said of a query that no plan can keep up with."""

from __future__ import annotations

from penstock.errors import PlanError
from penstock.plan.decision import Decision
from penstock.plan.force import render_plan
from penstock.query.goal import Steady

_HUNDREDTH = 0.01
_ROUNDING = 1e-6
"""How far, relatively, the work of a shed plan may be over the capacity by rounding."""


def refuse_infeasible(decision: Decision) -> None:
    """Refuse to run what is known not to keep up; guesses refuse nothing."""
    if decision.is_feasible or decision.is_shed or not isinstance(decision.goal, Steady):
        return
    if decision.rests_on_guesses:
        return
    least = min(a.estimate.needed for a in (decision.chosen, *decision.others))
    raise PlanError(
        f"no plan keeps up: the query needs {_seconds(least)} "
        f"of {decision.capacity:g} CPU-seconds a second\n"
        f"  best plan: {render_plan(decision.plan)}\n  shedding:  {shedding_text(decision)}",
        hint="let it shed with --shed (shed=True), or give it more with --capacity",
    )


def _seconds(work: float) -> str:
    """`1.40`, and `0.0014` where two digits would say nothing."""
    return f"{work:.2f}" if work >= _HUNDREDTH else f"{work:.2g}"


def shedding_text(decision: Decision) -> str:
    """`keep 0.5 of B: 900 of 1,000 results/s are left`."""
    found = decision.chosen.estimate
    if found.utilisation > decision.capacity * (1 + _ROUNDING):
        return f"{_seconds(found.utilisation)} are needed even when all that can be is shed"
    kept = [f"{x:.3g} of {alias}" for alias, x in found.keep.items() if x < 1.0]
    left = f"{found.output_rate:,.4g} of {found.full_rate:,.4g} results/s are left"
    return f"keep {', '.join(kept)}: {left}" if kept else left
