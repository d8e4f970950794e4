"""The planner: every decision composed. A query and what is known of it give a plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, combinations
from math import inf, prod

from penstock.errors import PlanError
from penstock.figure import Figure
from penstock.optimize.estimate import (
    check_reachable,
    endless,
    estimate,
    needed_by,
    with_drops,
)
from penstock.optimize.filters.condition_order import by_rank
from penstock.optimize.filters.placement import with_late_filters
from penstock.optimize.joins.candidates import (
    SEVERAL_SEARCHES,
    Proposal,
    multiway_plans,
    tree_plans,
)
from penstock.optimize.joins.ordering import lazier
from penstock.optimize.joins.physical import settle, with_methods
from penstock.optimize.mesh.plans import RUSTER, fallback_notes, mesh_plans
from penstock.optimize.model.effort import Effort
from penstock.optimize.model.facts import facts_of, guesses, inputs_of
from penstock.optimize.model.folding import with_early
from penstock.optimize.model.problem import DEFAULT_HORIZON, Problem
from penstock.optimize.options import KINDS
from penstock.optimize.preferences.choice import preferences
from penstock.optimize.preferences.comparison import budget_text, reason_for
from penstock.optimize.preferences.ranking import Order
from penstock.optimize.views.early import early_plans, recompute_plan, recompute_plans
from penstock.plan.decision import Alternative, Decision
from penstock.plan.mesh import MeshJoin
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan, recomputed_by
from penstock.plan.text.parse import forced_plan, is_flat, render_plan
from penstock.query.goal import STEADY, First, Goal, Steady
from penstock.stats.calibration import Engine
from penstock.stats.known import Known

_ROUGHLY = 1e-4
"""How exactly the output of plans is compared that all must shed."""
_MOST = 1e100
"""Combinations a second, whatever their predicates say; squares of more would overflow."""
_OVER = 1e-6
"""How far, relatively, a plan may be over the capacity and still be said to keep up."""


@dataclass(frozen=True)
class PlanOptions:
    """What the user wants of a plan: a goal, a forced plan, fewer kinds, shedding, switches, and
    the engine that it is to run on: in the laboratory every so many seconds, or eagerly.

    `exact_of_kept` wants the plain values of a view that is shed, not estimates.
    """

    goal: Goal = STEADY
    plan: str | None = None
    kinds: frozenset[str] = frozenset(KINDS)
    off: frozenset[str] = frozenset()
    sheds: bool = False
    exact_of_kept: bool = False
    alternatives: bool = False
    engine: Engine = "spark"
    interval: float | None = None


DEFAULT_OPTIONS = PlanOptions()


def decide(
    known: Known, options: PlanOptions = DEFAULT_OPTIONS, effort: Effort | None = None
) -> Decision:
    """The best plan for a query, with the others from best to worst and the reason.

    `effort` counts what is weighed for it: it depends on the query and what is known of it alone.
    """
    effort = effort or Effort()
    if "late-filters" not in options.off:
        known = with_late_filters(known, lambda late: _least_work(late, options, effort))
    if "filter-order" not in options.off:
        known = _in_rank_order(known)
    problem = Problem(known.query, known, effort=effort)
    _refuse_overflow(problem)
    _refuse_endless_product(problem)
    if options.sheds and not isinstance(options.goal, Steady):
        raise PlanError(
            f"the goal {options.goal} does not go with shedding",
            hint="shed under the goal steady; other goals let the work wait",
        )
    order = Order(options.goal, known.capacity.value)
    ranked = order.sorted(_weighed(problem, options))
    if isinstance(options.goal, First):
        check_reachable(problem, ranked[0].plan, options.goal)
    preferred = [] if options.plan else [*preferences(ranked, problem, order, options.engine)]
    best = preferred[-1].taken if preferred else ranked[0]
    chosen = _chosen(problem, options, best)
    others = tuple(a for a in ranked if a is not best)
    if options.plan is not None:
        others = tuple(a for a in ranked if render_plan(a.plan) != render_plan(chosen.plan))
    is_forced = options.plan is not None
    reason = reason_for(chosen, others, order, preferred, is_forced=is_forced)
    is_shed = options.sheds and chosen.estimate.needed > known.capacity.value
    if is_shed:
        _refuse_shedding(problem, chosen)
        chosen = replace(chosen, plan=with_drops(chosen.plan, chosen.estimate))
    if options.exact_of_kept:
        drops = replace(chosen.plan.drops, estimates=False)
        chosen = replace(chosen, plan=replace(chosen.plan, drops=drops))
    return Decision(
        goal=options.goal,
        capacity=known.capacity.value,
        chosen=chosen,
        others=others,
        reason=reason + budget_text(problem.effort),
        facts=facts_of(known),
        inputs=inputs_of(problem),
        horizon=DEFAULT_HORIZON if known.horizon is None else known.horizon,
        physical=settle(problem, chosen.plan, chosen.estimate, options.engine),
        is_forced=is_forced,
        is_shed=is_shed,
        rests_on_guesses=bool(guesses(known)),
        notes=(
            *known.notes,
            *(
                note
                for each in ranked
                if isinstance(each.plan, MeshJoin)
                for note in fallback_notes(each.plan)
            ),
        ),
    )


def _chosen(problem: Problem, options: PlanOptions, best: Alternative) -> Alternative:
    """The plan that is taken, as it is to run, with its estimate to the last digit."""
    plan, found_by = best.plan, best.found_by
    if options.plan is not None:
        plan, found_by = _forced(problem, options.plan), ("--plan",)
    elif options.engine == "laboratory" and "methods" not in options.off:
        plan = _for_laboratory(problem, plan, options.interval)
    elif best.estimate.needed == best.estimate.utilization:
        return best
    found = estimate(problem, plan, options.goal, sheds=options.sheds)
    if plan is best.plan and best.estimate.output_rate > found.output_rate:
        found = best.estimate
    return Alternative(plan, found, found_by)


def _for_laboratory(problem: Problem, plan: Plan, interval: float | None) -> Plan:
    plan = with_methods(problem, plan)
    if isinstance(plan, MultiwayJoin) and interval is not None:
        return lazier(problem, plan, interval)
    return plan


def _least_work(known: Known, options: PlanOptions, effort: Effort) -> float:
    """What the plan of least work needs, as if there were time for all: that is found fastest.

    A multi-way join stands for all plans where a search over trees takes long.
    """
    ample = replace(known, capacity=Figure(inf, "declared"))
    problem = Problem(known.query, ample, effort=effort)
    kinds = options.kinds - {"mesh"} if problem.size <= SEVERAL_SEARCHES else frozenset()
    kinds = kinds or frozenset({"multiway"})
    least = replace(options, goal=STEADY, kinds=kinds, alternatives=False, sheds=False)
    plans = _proposals(problem, least)
    return min((needed_by(problem, plan) for plan, _ in plans), default=inf)


def _weighed(problem: Problem, options: PlanOptions) -> list[Alternative]:
    """The plans with their estimates.

    What a plan would shed is of interest only where tuples may be shed and no plan keeps up. That
    takes many evaluations for each, so that plans of little work come first, as long as these last.
    """
    proposals = _distinct(_proposals(problem, options))
    if not proposals:
        raise PlanError("no plan is left to choose from", hint=_left_hint(options))
    goal, capacity = options.goal, problem.known.capacity.value
    needed = {render_plan(plan): needed_by(problem, plan) for plan, _ in proposals}
    sheds = options.sheds and min(needed.values()) > capacity
    if not sheds and isinstance(goal, Steady):
        return [Alternative(p, estimate(problem, p, goal, sheds=False), by) for p, by in proposals]
    found: list[Alternative] = []
    for plan, by in sorted(proposals, key=lambda each: needed[render_plan(each[0])]):
        if found and problem.effort.is_over:
            problem.effort.left_out += 1
            continue
        rough = estimate(problem, plan, goal, sheds=sheds, tolerance=_ROUGHLY)
        found.append(Alternative(plan, rough, by))
    return found


def _left_hint(options: PlanOptions) -> str:
    if options.kinds == {"mesh"} and "mesh" not in options.off:
        return "a mesh is for the goal steady, without ROWS windows: allow more kinds of plans"
    return "allow more kinds of plans, or switch fewer optimisations off"


def _proposals(problem: Problem, options: PlanOptions) -> Iterable[Proposal]:
    # Other goals look at results of the join, of which early aggregation makes no more.
    if "early-aggregation" in options.off or not isinstance(options.goal, Steady):
        return _joins(problem, options)
    plans = early_plans(problem, lambda folded, thorough: _joins(folded, options, thorough))
    if "recompute" in options.off or "multiway" not in options.kinds:
        return plans
    return chain(plans, recompute_plans(problem, options.off))


def _joins(problem: Problem, options: PlanOptions, is_thorough: bool = True) -> Iterator[Proposal]:
    """The join plans of a problem: all that are worth it, or only those of least work."""
    multiway = list(multiway_plans(problem, options.off, is_thorough))
    least = min(needed_by(problem, plan) for plan, _ in multiway)
    keeps_up = least <= problem.known.capacity.value
    is_enough = isinstance(options.goal, Steady) and (keeps_up or not options.sheds)
    if "multiway" in options.kinds or (problem.size == 1 and "tree" in options.kinds):
        yield from multiway
    if "tree" in options.kinds and problem.size > 1:
        is_exact = is_enough or not is_thorough
        yield from tree_plans(
            problem, options.goal, options.off, is_exact=is_exact, every=is_thorough
        )
    # A mesh takes a second to find, which a plan that is forced need not wait for.
    is_wanted = options.plan is None or options.alternatives
    may_mesh = "mesh" in options.kinds - options.off and isinstance(options.goal, Steady)
    if may_mesh and is_thorough and is_wanted:
        # The laboratory takes tuple by tuple: there are no pieces of batches.
        ruster = 0.0 if options.engine == "laboratory" else RUSTER
        is_alone = options.kinds == {"mesh"}
        yield from mesh_plans(problem, multiway, is_alone=is_alone, ruster=ruster)


def _distinct(proposals: Iterable[Proposal]) -> list[tuple[Plan, tuple[str, ...]]]:
    """Every plan once, with all that proposed it."""
    found: dict[str, tuple[Plan, tuple[str, ...]]] = {}
    for plan, by in proposals:
        text = render_plan(plan)
        first, others = found.get(text, (plan, ()))
        found[text] = (first, (*others, by))
    return list(found.values())


def _forced(problem: Problem, text: str) -> Plan:
    if not text.strip():
        raise PlanError("the plan is empty", hint="write '((A B) C)' or 'A: B C; B: A C; C: B A'")
    forced = forced_plan(problem.query, text)
    if not is_flat(problem.query, text):
        return forced
    if recomputed_by(forced) is not None:
        return replace(recompute_plan(problem, forced.early), recompute=recomputed_by(forced))
    flat, _ = next(multiway_plans(with_early(problem, forced.early), frozenset(), False))
    return replace(flat, early=forced.early)


def _in_rank_order(known: Known) -> Known:
    query = replace(
        known.query,
        filters=by_rank(known.query.filters, known.conditions),
        thetas=by_rank(known.query.thetas, known.conditions),
    )
    return replace(known, query=query)


def _refuse_overflow(problem: Problem) -> None:
    """Refuse what floating-point numbers cannot tell apart from infinity."""
    flows = problem.inputs
    if max(flow.rate for flow in flows) * prod(max(1.0, flow.window) for flow in flows) > _MOST:
        raise PlanError(
            f"more than {_MOST:g} combinations of tuples a second are more than can be planned for",
            hint="look at the rates and windows: is one in another unit?",
        )


def _refuse_endless_product(problem: Problem) -> None:
    """Refuse two endless streams that no predicate links, directly or through others."""
    names = endless(problem)
    for one, other in combinations(names, 2):
        if not _is_connected(problem, one, other):
            raise PlanError(
                f"{one} and {other} are endless, have no window, and no predicate links them",
                hint="give one of them a window, such as [RANGE 1 HOUR], or join them on a column",
            )


def _is_connected(problem: Problem, one: str, other: str) -> bool:
    links = [*problem.key_masks, *(mask for mask, _ in problem.theta_masks)]
    reached, target = problem.mask([one]), problem.mask([other])
    for _ in range(problem.size):
        for link in links:
            reached |= link if link & reached else 0
    return bool(reached & target)


def _refuse_shedding(problem: Problem, chosen: Alternative) -> None:
    if problem.known.horizon is None and endless(problem):
        raise PlanError(
            f"{endless(problem)[0]} is UNBOUNDED: how much to shed depends on how long it runs",
            hint="give a horizon in the stats file, such as horizon = '1 hour'",
        )
    if chosen.estimate.utilization > problem.known.capacity.value * (1 + _OVER):
        raise PlanError(
            f"no plan fits: {chosen.estimate.utilization:.3g} of "
            f"{problem.known.capacity.value:g} is needed even when all that can be is shed",
            hint="give it more capacity, or a longer rows_warmup",
        )
