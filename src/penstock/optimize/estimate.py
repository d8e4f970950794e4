"""Estimates of plans: their work, results and state, and what they must shed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from penstock.optimize.algebra.posynomial import value
from penstock.optimize.curves.reach import long_enough, results_by
from penstock.optimize.joins.cardinality import cardinality_cost
from penstock.optimize.model.folding import with_early, with_sample_weights
from penstock.optimize.model.load import load_of
from penstock.optimize.model.load_of_mesh import as_kept
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.rounds import batch_seconds
from penstock.optimize.model.view_changes import view_changes
from penstock.optimize.model.work import asking_seconds, combinations_of, output_of, state_of
from penstock.optimize.shedding.keeping import best_fractions, by_alias
from penstock.plan.decision import Estimate, InnerEstimate
from penstock.plan.drops import DropBoxes, worth_shedding
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from penstock.plan.text.parse import render_plan
from penstock.plan.text.shape import render_shape
from penstock.plan.tree import TreeJoin, branches, leaves
from penstock.query import TimeWindow
from penstock.query.goal import STEADY, By, First, Goal, Steady

TRIGGER = 1.0
"""Seconds between batches for which plans are ranked: the default, for a plan knows no other."""


def needed_by(problem: Problem, plan: Plan) -> float:
    """Seconds of work a second of a plan without drop boxes."""
    problem.effort.evaluations += 1
    if not isinstance(plan, MultiwayJoin | TreeJoin):
        return _needed(problem, plan)
    # Searches ask for the same plans again and again.
    found, text = problem.works, render_plan(plan)
    if text not in found:
        found[text] = _needed(problem, plan)
    return found[text]


def _needed(problem: Problem, plan: Plan) -> float:
    return value(load_of(with_early(problem, plan.early), plan), [1.0] * problem.size)


def estimate(
    problem: Problem, plan: Plan, goal: Goal, *, sheds: bool = True, tolerance: float = 1e-6
) -> Estimate:
    """The estimate of a plan, with the best drop boxes (if `sheds`) where it cannot keep up.

    The output that they leave is within the tolerance of the most there can be; with early inputs,
    of the most that is found near the fractions for tuples that do not fold.
    """
    x: tuple[float, ...] = (1.0,) * problem.size
    needed = needed_by(problem, plan)
    is_over = needed > problem.known.capacity.value
    if sheds and isinstance(goal, Steady) and is_over and _has_sizes(problem):
        x = best_fractions(problem, plan, tolerance)
    return _estimate_at(problem, plan, goal, x, needed)


def estimate_of_kept(problem: Problem, plan: Plan) -> Estimate:
    """The estimate of a plan with the drop boxes that it has."""
    x = tuple(plan.drops.fraction(flow.alias) for flow in problem.inputs)
    return _estimate_at(problem, plan, STEADY, x, needed_by(problem, plan))


def _estimate_at(
    problem: Problem, plan: Plan, goal: Goal, x: tuple[float, ...], needed: float
) -> Estimate:
    """The estimate of a plan that keeps the fractions `x` of its inputs."""
    output = output_of(problem, plan)
    shed = with_sample_weights(problem) if min(x) < 1.0 else problem
    folded = with_early(shed, plan.early, by_alias(problem, x))
    return Estimate(
        utilization=value(load_of(folded, plan), x) if min(x) < 1.0 else needed,
        needed=needed,
        output_rate=value(output, x),
        full_rate=value(output, [1.0] * problem.size),
        state=value(state_of(as_kept(folded, plan), plan), x),
        keep=by_alias(problem, x),
        inner=tuple(_inner(folded, plan, x)),
        measure=_measure(problem, plan, goal),
        sets=_sets(folded, plan, x),
        changes=view_changes(problem, by_alias(problem, x)),
        starting=batch_seconds(problem, plan) / TRIGGER,
        by_cardinality=_by_cardinality(problem, plan),
        asking=asking_seconds(problem),
    )


def _by_cardinality(problem: Problem, plan: Plan) -> float | None:
    if problem.estimator == "cardinality" and isinstance(plan, TreeJoin):
        return cardinality_cost(problem, plan)
    return None


def _sets(problem: Problem, plan: Plan, x: Sequence[float]) -> dict[str, float]:
    """The rows that the inputs aggregated early are folded to, those of ROWS windows and tables at
    one time."""
    return {
        flow.alias: flow.window * fraction if flow.shrinks else flow.occupied or flow.window
        for flow, fraction in zip(problem.inputs, x, strict=True)
        if flow.alias in plan.early
    }


def _inner(problem: Problem, plan: Plan, x: Sequence[float]) -> Iterator[InnerEstimate]:
    if isinstance(plan, TreeJoin):
        for branch in branches(plan.root):
            mask = problem.mask(leaves(branch))
            rate, state = combinations_of(problem, mask)
            yield InnerEstimate(render_shape(branch), value(rate, x), value(state, x))


def with_drops(plan: Plan, found: Estimate) -> Plan:
    """The plan with the drop boxes of its estimate."""
    return replace(plan, drops=DropBoxes(tuple(worth_shedding(found.keep).items())))


def _has_sizes(problem: Problem) -> bool:
    """Whether all windows have a size in the long run, which shedding needs."""
    return problem.known.horizon is not None or not endless(problem)


def endless(problem: Problem) -> tuple[str, ...]:
    """The streams whose windows grow for ever."""
    return tuple(
        item.alias
        for item, flow in zip(problem.query.inputs, problem.inputs, strict=True)
        if isinstance(item.window, TimeWindow)
        and item.window.extent is None
        and flow.cardinality is None
    )


def _measure(problem: Problem, plan: Plan, goal: Goal) -> float | None:
    match goal:
        case By(seconds=seconds):
            return results_by(problem, plan, seconds)
        case First(results=results):
            return long_enough(problem, plan, results).time_of(results)
    return None
