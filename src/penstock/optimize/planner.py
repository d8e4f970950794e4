"""The planner: every decision composed. A query and what is known of it give a plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, combinations
from math import inf, prod

from penstock.errors import PlanError
from penstock.optimize.anew import unfolded_seconds
from penstock.optimize.candidates import (
    FROM_ORDER,
    SEVERAL_SEARCHES,
    Proposal,
    multiway_plans,
    tree_plans,
)
from penstock.optimize.distinct import is_folding_guessed
from penstock.optimize.early import anew_plan, anew_plans, early_plans
from penstock.optimize.estimate import (
    check_reachable,
    endless,
    estimate,
    needed_by,
    with_drops,
)
from penstock.optimize.facts import facts_of, guesses, inputs_of
from penstock.optimize.folding import with_early
from penstock.optimize.mesh_plans import RUSTER, fallback_notes, mesh_plans
from penstock.optimize.ordering import lazier
from penstock.optimize.physical import settle, with_methods
from penstock.optimize.placement import with_late_filters
from penstock.optimize.predicates import by_rank
from penstock.optimize.problem import DEFAULT_HORIZON, Problem
from penstock.optimize.reasons import reason_for
from penstock.optimize.rounds import batch_seconds
from penstock.optimize.switches import KINDS
from penstock.plan.decision import Alternative, Decision, Estimate
from penstock.plan.force import forced_plan, is_flat, render_plan
from penstock.plan.mesh import MeshJoin
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan, anew_by
from penstock.query.goal import STEADY, First, Goal, Steady
from penstock.stats.calibration import Engine
from penstock.stats.figure import Figure
from penstock.stats.known import Known

_SAME = 9
"""Significant digits in which two plans must differ for one to be called better."""

_ALIKE = 1.25
"""How many times the least work a plan may need and be as good as the best, going by guesses."""
_CLEARLY = 0.9
"""What part of another plan's seconds a plan may need at the most to be clearly better."""
_ROUGHLY = 1e-4
"""How exactly the output of plans is compared that all must shed."""
_MOST = 1e100
"""Combinations a second, whatever their predicates say; squares of more would overflow."""
_HARMLESS = 0.1
"""What part of the capacity merging windows in which nothing folds may take at the most, for a view
to be computed anew though it is only guessed that they fold: so much is lost if that is wrong."""
_TRIGGER = 1.0
"""Seconds between batches for which plans are ranked: the default, for a plan knows no other."""
_OVER = 1e-6
"""How far, relatively, a plan may be over the capacity and still be said to keep up."""


@dataclass(frozen=True)
class Wishes:
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


NO_WISHES = Wishes()


def decide(known: Known, wishes: Wishes = NO_WISHES) -> Decision:
    """The best plan for a query, with the others from best to worst and the reason."""
    if "late-filters" not in wishes.off:
        known = with_late_filters(known, lambda late: _least_work(late, wishes))
    if "filter-order" not in wishes.off:
        known = _in_rank_order(known)
    problem = Problem(known.query, known)
    _refuse_overflow(problem)
    _refuse_endless_product(problem)
    if wishes.sheds and not isinstance(wishes.goal, Steady):
        raise PlanError(
            f"the goal {wishes.goal} does not go with shedding",
            hint="shed under the goal steady; other goals let the work wait",
        )
    ranked = _ranked(problem, wishes)
    if isinstance(wishes.goal, First):
        check_reachable(problem, ranked[0].plan, wishes.goal)
    chosen = ranked[0]
    others = tuple(ranked[1:])
    if wishes.plan is not None:
        forced = _forced(problem, wishes.plan)
        chosen = Alternative(forced, estimate(problem, forced, wishes.goal), ("--plan",))
        others = tuple(a for a in ranked if render_plan(a.plan) != render_plan(chosen.plan))
    if wishes.engine == "laboratory" and "methods" not in wishes.off and wishes.plan is None:
        plan = _for_laboratory(problem, chosen.plan, wishes.interval)
        found = estimate(problem, plan, wishes.goal)
        chosen = replace(chosen, plan=plan, estimate=found)
    is_shed = wishes.sheds and chosen.estimate.needed > known.capacity.value
    if is_shed:
        _refuse_shedding(problem, chosen)
        chosen = replace(chosen, plan=with_drops(chosen.plan, chosen.estimate))
    if wishes.exact_of_kept:
        drops = replace(chosen.plan.drops, estimates=False)
        chosen = replace(chosen, plan=replace(chosen.plan, drops=drops))
    return Decision(
        goal=wishes.goal,
        capacity=known.capacity.value,
        chosen=chosen,
        others=others,
        reason=reason_for(
            chosen,
            others,
            wishes.goal,
            is_forced=wishes.plan is not None,
            is_sure=all(_is_sure(problem, other.plan) for other in others[:1]),
        ),
        facts=facts_of(known),
        inputs=inputs_of(problem),
        horizon=DEFAULT_HORIZON if known.horizon is None else known.horizon,
        physical=settle(problem, chosen.plan, chosen.estimate, wishes.engine),
        is_forced=wishes.plan is not None,
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


def _for_laboratory(problem: Problem, plan: Plan, interval: float | None) -> Plan:
    plan = with_methods(problem, plan)
    if isinstance(plan, MultiwayJoin) and interval is not None:
        return lazier(problem, plan, interval)
    return plan


def _least_work(known: Known, wishes: Wishes) -> float:
    """What the plan of least work needs, as if there were time for all: that is found fastest.

    A multi-way join stands for all plans where a search over trees takes long.
    """
    problem = Problem(known.query, replace(known, capacity=Figure(inf, "declared")))
    kinds = wishes.kinds - {"mesh"} if problem.size <= SEVERAL_SEARCHES else frozenset()
    kinds = kinds or frozenset({"multiway"})
    plans = _proposals(problem, replace(wishes, goal=STEADY, kinds=kinds, alternatives=False))
    return min((needed_by(problem, plan) for plan, _ in plans), default=inf)


def _ranked(problem: Problem, wishes: Wishes) -> list[Alternative]:
    """The plans that were weighed, best first."""
    proposals = _distinct(_proposals(problem, wishes))
    if not proposals:
        raise PlanError("no plan is left to choose from", hint=_left_hint(wishes))
    capacity = problem.known.capacity.value
    # What a plan would shed is of interest only where none keeps up, or where all are to be shown.
    sheds = wishes.alternatives or all(needed_by(problem, p) > capacity for p, _ in proposals)
    found = [
        Alternative(plan, _roughly(problem, plan, wishes.goal, sheds), by) for plan, by in proposals
    ]
    ranked = sorted(
        found,
        key=lambda a: _merit(a, wishes.goal, capacity, batch_seconds(problem, a.plan) / _TRIGGER),
    )
    _prefer_kept(ranked, problem, capacity)
    if isinstance(wishes.goal, Steady) and guesses(problem.known):
        best = _least_state(ranked, capacity)
        ranked.remove(best)
        ranked.insert(0, best)
    if wishes.engine != "laboratory" and problem.known.costs.origin == "measured":
        _prefer_from(ranked, problem, wishes.goal, capacity)
    best = replace(ranked[0], estimate=estimate(problem, ranked[0].plan, wishes.goal))
    return [best, *ranked[1:]]


def _left_hint(wishes: Wishes) -> str:
    if wishes.kinds == {"mesh"} and "mesh" not in wishes.off:
        return "a mesh is for the goal steady, without ROWS windows: allow more kinds of plans"
    return "allow more kinds of plans, or switch fewer optimisations off"


def _prefer_kept(ranked: list[Alternative], problem: Problem, capacity: float) -> None:
    """Put the best plan that keeps its view first unless computing it anew is clearly better.

    How much better depends on how long batches are, which a plan does not know, and on how far the
    windows fold.
    """
    best = ranked[0]
    kept = next((a for a in ranked if anew_by(a.plan) is None), best)
    is_clear = _seconds(best, problem) <= _CLEARLY * _seconds(kept, problem)
    if not (is_clear and _is_sure(problem, best.plan)) and kept.estimate.needed <= capacity:
        ranked.remove(kept)
        ranked.insert(0, kept)


def _is_sure(problem: Problem, plan: Plan) -> bool:
    """Whether a plan is kept, folds by what is given, or does little harm where that is wrong."""
    if anew_by(plan) is None or not any(is_folding_guessed(problem.known, a) for a in plan.early):
        return True
    return unfolded_seconds(problem, plan.early) <= _HARMLESS * problem.known.capacity.value


def _prefer_from(ranked: list[Alternative], problem: Problem, goal: Goal, capacity: float) -> None:
    """Put FROM's own order first unless the best plan is clearly better than it.

    Seconds of batches are not predicted to the last percent, and a change for nothing is a risk.
    """
    if not isinstance(goal, Steady):
        return
    best = _seconds(ranked[0], problem)
    for own in ranked:
        is_own = FROM_ORDER in own.found_by and _aggregate_alike(own.plan, ranked[0].plan)
        if is_own and own.estimate.needed <= capacity:
            if best > _CLEARLY * _seconds(own, problem):
                ranked.remove(own)
                ranked.insert(0, own)
            return


def _seconds(alternative: Alternative, problem: Problem) -> float:
    """Seconds of work a second, with what starting the batches takes."""
    starting = batch_seconds(problem, alternative.plan) / _TRIGGER
    return alternative.estimate.utilisation + starting


def _least_state(ranked: list[Alternative], capacity: float) -> Alternative:
    """Of the plans that guesses cannot tell from the best, the one that keeps the least.

    What is kept is what a wrong guess costs. A plan that keeps up gives way to none that does not,
    and inputs are folded for the work that it saves, not for a little state.
    """
    best = ranked[0].estimate
    most = best.utilisation * _ALIKE
    if best.needed <= capacity:
        most = min(most, capacity)
    alike = [
        a
        for a in ranked
        if _aggregate_alike(a.plan, ranked[0].plan)
        and a.estimate.utilisation <= most
        and a.estimate.output_rate * _ALIKE >= best.output_rate
    ]
    return min(alike, key=lambda a: a.estimate.state)


def _aggregate_alike(one: Plan, other: Plan) -> bool:
    """Whether plans differ in the order of their joins only."""
    return (one.early, anew_by(one)) == (other.early, anew_by(other))


def _roughly(problem: Problem, plan: Plan, goal: Goal, sheds: bool) -> Estimate:
    """An estimate that is good enough to rank plans."""
    return estimate(problem, plan, goal, sheds=sheds, tolerance=_ROUGHLY)


def _proposals(problem: Problem, wishes: Wishes) -> Iterable[Proposal]:
    # Other goals look at results of the join, of which early aggregation makes no more.
    if "early-aggregation" in wishes.off or not isinstance(wishes.goal, Steady):
        return _joins(problem, wishes)
    plans = early_plans(problem, lambda folded, thorough: _joins(folded, wishes, thorough))
    if "anew" in wishes.off or "multiway" not in wishes.kinds:
        return plans
    return chain(plans, anew_plans(problem, wishes.off))


def _joins(problem: Problem, wishes: Wishes, is_thorough: bool = True) -> Iterator[Proposal]:
    """The join plans of a problem: all that are worth it, or only those of least work."""
    every = wishes.alternatives and is_thorough
    multiway = list(multiway_plans(problem, wishes.off, every))
    least = min(needed_by(problem, plan) for plan, _ in multiway)
    is_enough = isinstance(wishes.goal, Steady) and least <= problem.known.capacity.value
    if "multiway" in wishes.kinds or (problem.size == 1 and "tree" in wishes.kinds):
        yield from multiway
    if "tree" in wishes.kinds and problem.size > 1:
        is_exact = is_enough or not is_thorough
        yield from tree_plans(problem, wishes.goal, wishes.off, is_exact=is_exact, every=every)
    # A mesh takes a second to find, which a plan that is forced need not wait for.
    is_wanted = wishes.plan is None or wishes.alternatives
    may_mesh = "mesh" in wishes.kinds - wishes.off and isinstance(wishes.goal, Steady)
    if may_mesh and is_thorough and is_wanted:
        # The laboratory takes tuple by tuple: there are no pieces of batches.
        ruster = 0.0 if wishes.engine == "laboratory" else RUSTER
        is_alone = wishes.kinds == {"mesh"}
        yield from mesh_plans(problem, multiway, is_alone=is_alone, ruster=ruster)


def _distinct(proposals: Iterable[Proposal]) -> list[tuple[Plan, tuple[str, ...]]]:
    """Every plan once, with all that proposed it."""
    found: dict[str, tuple[Plan, tuple[str, ...]]] = {}
    for plan, by in proposals:
        text = render_plan(plan)
        first, others = found.get(text, (plan, ()))
        found[text] = (first, (*others, by))
    return list(found.values())


def _merit(
    alternative: Alternative, goal: Goal, capacity: float, starting: float
) -> tuple[float, ...]:
    """What plans are sorted by, the best first; plans that are equal keep their order.

    Steady: A&N's R(p) = output rate / utilisation, which is the fewest results lost, and of those
    plans that lose none the least work. Otherwise V&N's measure, then the work.
    """
    found = alternative.estimate
    work = _rounded(found.utilisation + starting)
    if isinstance(goal, Steady):
        kept = found.output_rate / found.full_rate if found.full_rate else 1.0
        if found.utilisation > capacity * (1 + _OVER):
            kept = 0.0
        # Of plans that lose nearly all, only what they keep tells one from another.
        return (_rounded(1.0 - kept, 4), -_rounded(kept, 4), work, _rounded(found.state))
    if found.measure is None:
        return (float("inf"), work)
    return (_rounded(found.measure if isinstance(goal, First) else -found.measure), work)


def _rounded(number: float, digits: int = _SAME) -> float:
    return float(f"{number:.{digits}g}")


def _forced(problem: Problem, text: str) -> Plan:
    if not text.strip():
        raise PlanError("the plan is empty", hint="write '((A B) C)' or 'A: B C; B: A C; C: B A'")
    forced = forced_plan(problem.query, text)
    if not is_flat(problem.query, text):
        return forced
    if anew_by(forced) is not None:
        return replace(anew_plan(problem, forced.early), anew=anew_by(forced))
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
    if chosen.estimate.utilisation > problem.known.capacity.value * (1 + _OVER):
        raise PlanError(
            f"no plan fits: {chosen.estimate.utilisation:.3g} of "
            f"{problem.known.capacity.value:g} is needed even when all that can be is shed",
            hint="give it more capacity, or a longer rows_warmup",
        )
