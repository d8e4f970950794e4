"""The decision: the plan that is taken as it is to run, what it is expected to do, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from penstock.optimize.delay.expected import expected_delay
from penstock.optimize.delay.remark import peak_notes
from penstock.optimize.estimate import TRIGGER, estimate, with_drops
from penstock.optimize.joins.lazy_orders import lazier, lazily
from penstock.optimize.joins.physical import physical_choices, with_methods
from penstock.optimize.memory.limit import Fitted, fitted
from penstock.optimize.mesh.plans import fallback_notes
from penstock.optimize.model.effort import Effort
from penstock.optimize.model.flow import DEFAULT_HORIZON
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.statistics_used import guesses, inputs_of, statistics_used
from penstock.optimize.options import PlanOptions
from penstock.optimize.preferences.preference import Context, Plans, Reason
from penstock.optimize.refusals import refuse_shedding
from penstock.optimize.remarks import lazy_notes, search_notes
from penstock.plan.decision import Alternative, Decision
from penstock.plan.delay import ExpectedDelay
from penstock.plan.explain.quantity import bytes_text
from penstock.plan.mesh import MeshJoin
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.physical import Physical
from penstock.plan.plan import Plan
from penstock.query.goal import Steady


def settle(plans: Plans, reasons: Sequence[Reason], context: Context) -> Decision:
    """The decision for the first of the plans, for the given reasons."""
    problem, options, known = context.problem, context.options, context.problem.known
    fit = fitted(problem, options, _by_preference(plans, context))
    exact = _as_it_runs(plans[0], context) if fit is None else _as_it_fits(fit, plans, context)
    is_shed = options.sheds and exact.estimate.needed > known.capacity.value
    chosen = _with_drop_boxes(problem, options, exact, is_shed)
    others = context.ranking.sorted(_others(plans, fit))
    delay = None if is_shed else _delay(chosen, context)
    return Decision(
        goal=options.goal,
        capacity=known.capacity.value,
        chosen=chosen,
        others=tuple(others),
        reason=_reason(reasons, exact, fit, options) + _budget_text(problem.effort),
        statistics=statistics_used(known),
        inputs=inputs_of(problem),
        horizon=DEFAULT_HORIZON if known.horizon is None else known.horizon,
        physical=_physical(chosen, fit, context),
        is_forced=options.plan is not None,
        is_shed=is_shed,
        rests_on_guesses=bool(guesses(known)),
        notes=(
            *known.notes,
            *mesh_notes((plans[0], *others)),
            *search_notes(plans, context),
            *lazy_notes(chosen.plan, context),
            *peak_notes(problem, chosen.plan, delay),
        ),
        delay=delay,
    )


def _physical(chosen: Alternative, fit: Fitted | None, context: Context) -> Physical:
    """The physical choices, with the memory and the τ that the plan is for."""
    problem, options, plan = context.problem, context.options, chosen.plan
    choices = physical_choices(problem, plan, chosen.estimate, options.engine)
    choices = choices if fit is None else fit.obeyed(choices)
    if isinstance(plan, MultiwayJoin) and options.engine == "laboratory" and options.interval:
        choices = replace(choices, lazy=lazily(problem, plan, options.interval))
    return choices


def _delay(chosen: Alternative, context: Context) -> ExpectedDelay | None:
    """The delay in batches as they start by default; the laboratory has its own, or none."""
    options = context.options
    trigger = (options.interval or 0.0) if options.engine == "laboratory" else TRIGGER
    return expected_delay(context.problem, chosen.plan, chosen.estimate.utilization, trigger)


def _as_it_runs(best: Alternative, context: Context) -> Alternative:
    """A plan as it is to run, with its estimate to the last digit; a forced one is so already."""
    problem, options, plan = context.problem, context.options, best.plan
    if options.plan is not None:
        return best
    if options.engine == "laboratory" and "methods" not in options.off:
        plan = _for_laboratory(problem, plan, options.interval)
    elif best.estimate.needed == best.estimate.utilization:
        return best
    found = estimate(problem, plan, options.goal, sheds=options.sheds)
    if plan is best.plan and best.estimate.output_rate > found.output_rate:
        found = best.estimate
    return Alternative(plan, found, best.found_by)


def _as_it_fits(fit: Fitted, plans: Plans, context: Context) -> Alternative:
    """The plan that fits into the memory, with its estimate."""
    problem, options, plan = context.problem, context.options, fit.plan
    if isinstance(plan, MultiwayJoin) and options.interval is not None and options.plan is None:
        plan = lazier(problem, plan, options.interval)
    found = estimate(problem, plan, options.goal, sheds=options.sheds)
    by = next(each.found_by for each in plans if each.plan is fit.indexed.source)
    return Alternative(plan, fit.charged(found), (fit.indexed.rule,) if fit.indexed.rule else by)


def _by_preference(plans: Plans, context: Context) -> list[Plan]:
    return [each.plan for each in (plans[0], *context.ranking.sorted(plans[1:]))]


def _others(plans: Plans, fit: Fitted | None) -> Plans:
    """The plans but the one that was chosen, in the order of its visits or another."""
    if fit is None:
        return plans[1:]
    return [each for each in plans if each.plan is not fit.indexed.source]


def _reason(
    reasons: Sequence[Reason], exact: Alternative, fit: Fitted | None, options: PlanOptions
) -> str:
    if fit is None:
        return "; ".join(why(exact) for why in reasons)
    what = "least work" if isinstance(options.goal, Steady) else f"best for {options.goal}"
    limit = bytes_text(fit.memory.limit)
    return f"{what} of the plans that fit into a memory of {limit}, with their indexes"


def _for_laboratory(problem: Problem, plan: Plan, interval: float | None) -> Plan:
    plan = with_methods(problem, plan)
    if isinstance(plan, MultiwayJoin) and interval is not None:
        return lazier(problem, plan, interval)
    return plan


def _with_drop_boxes(
    problem: Problem, options: PlanOptions, chosen: Alternative, is_shed: bool
) -> Alternative:
    """The plan with its drop boxes if it sheds, and with whether a view is then estimated."""
    if is_shed:
        refuse_shedding(problem, chosen)
        chosen = replace(chosen, plan=with_drops(chosen.plan, chosen.estimate))
    if options.exact_of_kept:
        drops = replace(chosen.plan.drops, estimates=False)
        chosen = replace(chosen, plan=replace(chosen.plan, drops=drops))
    return chosen


def _budget_text(effort: Effort) -> str:
    """How many plans were left out for the budget of evaluations; nothing if none was."""
    if not effort.left_out:
        return ""
    spent = f"within the budget of {effort.most:,} evaluations"
    plans = "plan was" if effort.left_out == 1 else "plans were"
    return f"; the best {spent}: {effort.left_out:,} more {plans} not weighed"


def mesh_notes(weighed: Sequence[Alternative]) -> list[str]:
    """Why streams of the meshes that were weighed have one route, each reason once."""
    meshes = [each.plan for each in weighed if isinstance(each.plan, MeshJoin)]
    return list(dict.fromkeys(note for mesh in meshes for note in fallback_notes(mesh)))
