"""Remarks on how plans were compared and searched, for whoever reads explain."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.optimize.joins.lazy_orders import proposed
from penstock.optimize.joins.rate_search import MOST_INPUTS
from penstock.optimize.preferences.comparison import compared
from penstock.optimize.preferences.preference import Context, Plans
from penstock.optimize.preferences.ranking import Ranking
from penstock.plan.explain.quantity import percent, seconds
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from penstock.plan.text.parse import render_plan
from penstock.query.goal import First, Steady


def search_notes(plans: Plans, context: Context) -> Iterator[str]:
    """What differs from the usual way to compare plans, and from going through all trees."""
    options, problem = context.options, context.problem
    if isinstance(options.goal, First) and options.goal.share is not None:
        yield f"{options.goal} is {options.goal.results:,} results"
    if isinstance(options.goal, Steady):
        pass
    elif options.servers == "each":
        yield "results over time wait for a server of each operator (--servers each)"
    if not isinstance(options.goal, Steady) and problem.tabled(MOST_INPUTS) is None:
        yield "of so many inputs only the trees of little work were weighed for the goal"
    if options.estimator == "cardinality":
        yield from _by_rates(plans, context)
    if problem.known.memory is not None and options.engine != "laboratory":
        yield (
            "memory decides about indexes in the laboratory only: this engine searches sorted "
            "chunks, which need none, and keeps its state in files"
        )


def lazy_notes(plan: Plan, context: Context) -> Iterator[str]:
    """General lazy loops that would take clearly less than joining each tuple as it comes."""
    options = context.options
    if options.engine != "laboratory" or options.interval or options.plan is not None:
        return
    lazy = proposed(context.problem, plan) if isinstance(plan, MultiwayJoin) else None
    if lazy is not None:
        behind = ", ".join(lazy.behind)
        yield (
            f"joined every τ = {seconds(lazy.tau)}, with new tuples of {behind} not first, loops "
            f"would take {percent(lazy.work)} of the work, and results wait as long "
            f"(--every {seconds(lazy.tau)!r})"
        )


def _by_rates(plans: Plans, context: Context) -> Iterator[str]:
    """What the rates of the streams would have chosen of the same plans."""
    yield "plans are compared by cardinalities, as if all tuples were there at once"
    ranking = Ranking(context.options.goal, context.problem.known.capacity.value)
    best, chosen = ranking.best(plans), plans[0]
    if render_plan(best.plan) == render_plan(chosen.plan):
        yield "by rates the plan would be the same"
    else:
        yield f"by rates it would be {render_plan(best.plan)}: {compared(best, chosen, ranking)}"
