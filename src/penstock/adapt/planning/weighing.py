"""Weighing: the work of the running plan and of others, by the same figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

from penstock.adapt.planning.identity import identity
from penstock.adapt.planning.rebuild import fill_seconds, rebuild_seconds, with_rows
from penstock.adapt.training.reassess import reassessed
from penstock.optimize.estimate import TRIGGER, needed_by
from penstock.optimize.model.folding import with_sample_weights
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.rounds import batch_seconds
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.optimize.preferences.preference import CLEARLY_IF_SHED, Plans, is_plain
from penstock.optimize.sharing.several_joins import joins_plan
from penstock.plan.decision import Alternative
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan, recomputed_by
from penstock.plan.sharing.offers import offers, turned_to
from penstock.plan.text.parse import render_plan
from penstock.stats.known import Known


@dataclass(frozen=True)
class Candidate:
    """A plan that might be followed: CPU-seconds for a second of event time, seconds for what must
    be rebuilt, and seconds of event time for which that fills itself."""

    plan: Plan
    text: str
    work: float
    rebuild: float = 0.0
    fill: float = 0.0

    @cached_property
    def identity(self) -> str:
        """What tells the plan from all others: of two meshes the text may be the same."""
        return identity(self.plan)

    @property
    def kind(self) -> str:
        """The kind of the plan, by its type."""
        return type(self.plan).__name__


@dataclass(frozen=True)
class Weighed:
    """The running plan and the others, from best to worst, by some figures."""

    known: Known
    running: Candidate
    others: tuple[Candidate, ...]


@dataclass(frozen=True)
class Question:
    """What the planner is asked: who makes the figures, the user's wishes, the plan that runs, the
    rows in the windows now, by alias, and which combinations a plan must come by, since others take
    them."""

    known: Callable[[], Known]
    options: PlanOptions
    running: Plan
    rows: Mapping[str, float]
    taken: frozenset[frozenset[str]] = frozenset()


def weigh(question: Question) -> Weighed:
    """The plans there are. Drop boxes stay as they run: they are set by somebody else."""
    running = question.running
    # Where filters stand was settled when the first of the state was written.
    known = replace(question.known(), query=running.query)
    options = _options(question, keeps_view=bool(running.drops.kept))
    charged = _charged(known, running)
    if isinstance(running, MultiwayJoin) and len(running.joins) > 1:
        return _weighed_joins(known, charged, question)
    decision = decide(charged, options)
    filled = with_rows(Problem(known.query, known), dict(question.rows))
    # A mesh promises what it did by its own training.
    work = work_of_plan(charged, reassessed(running, known, options))
    mine = Candidate(running, render_plan(running), work)

    def candidate(each: Alternative) -> Candidate:
        rebuild = rebuild_seconds(filled, running, each.plan)
        fill = fill_seconds(filled, each.plan) if rebuild else 0.0
        plan = replace(each.plan, drops=running.drops)
        work = each.estimate.needed + each.estimate.starting
        return Candidate(plan, render_plan(plan), work, rebuild, fill)

    every: Plans = (decision.chosen, *decision.others)
    fitting = [candidate(each) for each in every if offers(each.plan, question.taken)]
    turned = turned_to(decision.plan, question.taken)
    if turned is not None and not offers(decision.plan, question.taken):
        plan = replace(turned, drops=running.drops)
        fitting.append(Candidate(plan, render_plan(plan), work_of_plan(known, plan)))
        fitting.sort(key=lambda each: each.work)
    if question.options.sheds:
        fitting = _good_to_shed(fitting)
    return Weighed(known, mine, tuple(fitting))


def _good_to_shed(plans: list[Candidate]) -> list[Candidate]:
    """Plans of a run that may shed: those that are dear to estimate must need as much less work
    as they must when a plan is chosen at the start."""
    for is_cheap in (_keeps_view, is_plain):
        least = min((each.work for each in plans if is_cheap(each.plan)), default=inf)
        most = CLEARLY_IF_SHED * least
        plans = [each for each in plans if is_cheap(each.plan) or each.work <= most]
    return plans


def _keeps_view(plan: Plan) -> bool:
    return recomputed_by(plan) is None


def _weighed_joins(known: Known, charged: Known, question: Question) -> Weighed:
    """A plan that finds several joins, and the best orders of these by what is known now."""
    running = question.running

    def candidate(plan: Plan) -> Candidate:
        return Candidate(plan, render_plan(plan), work_of_plan(charged, plan))

    best = joins_plan(Problem(charged.query, charged), question.taken)
    return Weighed(known, candidate(running), (candidate(replace(best, drops=running.drops)),))


def _options(question: Question, *, keeps_view: bool) -> PlanOptions:
    """How plans are asked for. What is shed must be weighed result by result, and a view that is
    recomputed would have all of its windows weighed in every batch."""
    options = question.options
    off = options.off | {"late-filters"} | ({"recompute"} if keeps_view else set())
    return replace(options, plan=None, sheds=False, alternatives=False, off=off)


def _charged(known: Known, running: Plan) -> Known:
    """What is known, with what folding and tallying take while tuples carry weights, whatever is
    aggregated early."""
    sampled, query = dict(running.drops.kept), known.query
    if not sampled:
        return known
    return with_sample_weights(Problem(query, known), sampled, query.aliases).known


def work_of_plan(known: Known, plan: Plan) -> float:
    """The CPU-seconds of a plan for a second of event time, without its drop boxes."""
    problem = Problem(plan.query, replace(known, query=plan.query))
    return needed_by(problem, plan) + batch_seconds(problem, plan) / TRIGGER
