"""Plans with their estimates: each proposed plan once, as far as the evaluations last."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.errors import PlanError
from penstock.optimize.estimate import estimate, needed_by
from penstock.optimize.joins.candidates import Proposal
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import PlanOptions
from penstock.plan.decision import Alternative
from penstock.plan.plan import Plan
from penstock.plan.text.parse import render_plan
from penstock.query.goal import Steady

_ROUGHLY = 1e-4
"""How exactly the output of plans is compared that all must shed."""

Found = tuple[Plan, tuple[str, ...]]
"""A plan, and the searches that proposed it."""


def weighed(
    problem: Problem, options: PlanOptions, proposals: Iterable[Proposal]
) -> list[Alternative]:
    """The plans with their estimates.

    What a plan would shed is of interest only where tuples may be shed and no plan keeps up. That
    takes many evaluations for each, so that plans of little work come first, as long as these last.
    """
    found = _distinct(proposals)
    if not found:
        raise PlanError("no plan is left to choose from", hint=_left_hint(options))
    needed = {render_plan(plan): needed_by(problem, plan) for plan, _ in found}
    sheds = options.sheds and min(needed.values()) > problem.known.capacity.value
    if not sheds and isinstance(options.goal, Steady):
        goal = options.goal
        return [Alternative(p, estimate(problem, p, goal, sheds=False), by) for p, by in found]
    by_work = sorted(found, key=lambda each: needed[render_plan(each[0])])
    return _within_budget(problem, options, by_work, sheds)


def _within_budget(
    problem: Problem, options: PlanOptions, plans: Iterable[Found], sheds: bool
) -> list[Alternative]:
    """The first of the plans with rough estimates, one of them in any case."""
    found: list[Alternative] = []
    for plan, by in plans:
        if found and problem.effort.is_over:
            problem.effort.left_out += 1
            continue
        rough = estimate(problem, plan, options.goal, sheds=sheds, tolerance=_ROUGHLY)
        found.append(Alternative(plan, rough, by))
    return found


def _distinct(proposals: Iterable[Proposal]) -> list[Found]:
    """Every plan once, with all that proposed it."""
    found: dict[str, Found] = {}
    for plan, by in proposals:
        text = render_plan(plan)
        first, others = found.get(text, (plan, ()))
        found[text] = (first, (*others, by))
    return list(found.values())


def _left_hint(options: PlanOptions) -> str:
    if options.kinds == {"mesh"} and "mesh" not in options.off:
        return "a mesh is not for views over ROWS windows: allow other kinds"
    return "allow more kinds of plans, or switch fewer optimisations off"
