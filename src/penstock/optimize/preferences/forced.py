"""A plan that the user has forced comes before all others."""

from __future__ import annotations

from dataclasses import replace

from penstock.engines import EngineName
from penstock.errors import PlanError
from penstock.optimize.estimate import estimate, needed_by
from penstock.optimize.joins.candidates import multiway_plans
from penstock.optimize.mesh.plans import ruster_seconds
from penstock.optimize.mesh.reckon import reckoned
from penstock.optimize.model.folding import with_early
from penstock.optimize.model.problem import Problem
from penstock.optimize.preferences.comparison import compared
from penstock.optimize.preferences.preference import Context, Plans, Preferred
from penstock.optimize.views.recompute import recompute_plan
from penstock.plan.decision import Alternative
from penstock.plan.mesh import MeshJoin
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan, recomputed_by
from penstock.plan.text.parse import forced_plan, is_flat, render_plan


def forced(plans: Plans, context: Context) -> Preferred:
    """The plan of `--plan` first, and the others but itself."""
    text, problem, options = context.options.plan, context.problem, context.options
    if text is None:
        return Preferred(plans)
    plan = _read(problem, text, options.engine)
    found = estimate(problem, plan, options.goal, sheds=options.sheds)
    chosen = Alternative(plan, found, ("--plan",))
    others = [other for other in plans if render_plan(other.plan) != render_plan(plan)]
    return Preferred([chosen, *others], lambda _: _reason(chosen, others, context))


def _reason(chosen: Alternative, others: Plans, context: Context) -> str:
    if not others:
        return "forced by --plan"
    best = others[0]
    figures = compared(best, chosen, context.ranking)
    return f"forced by --plan; of the others {render_plan(best.plan)} is the best: {figures}"


def _read(problem: Problem, text: str, engine: EngineName) -> Plan:
    """The plan that a text describes; the shape of a multi-way join gets the best orders."""
    if not text.strip():
        raise PlanError("the plan is empty", hint="write '((A B) C)' or 'A: B C; B: A C; C: B A'")
    plan = forced_plan(problem.query, text)
    if isinstance(plan, MeshJoin):
        return _reckoned(problem, plan, engine)
    if not is_flat(problem.query, text):
        return plan
    driver = recomputed_by(plan)
    if driver is not None:
        return replace(recompute_plan(problem, plan.early), recompute=driver)
    flat, _ = next(multiway_plans(with_early(problem, plan.early), frozenset(), False))
    return replace(flat, early=plan.early)


def _reckoned(problem: Problem, plan: MeshJoin, engine: EngineName) -> MeshJoin:
    """A mesh with what its routes cost by the training that there is."""
    problem = with_early(problem, plan.early)
    joins = [
        p for p, _ in multiway_plans(problem, frozenset(), True) if isinstance(p, MultiwayJoin)
    ]
    single = min(joins, key=lambda each: needed_by(problem, each))
    return reckoned(problem, plan, single, ruster_seconds(problem.known.costs, engine))
