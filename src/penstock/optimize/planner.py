"""The planner: a query and what is known of it give a plan, by a loop over preferences."""

from __future__ import annotations

from penstock.optimize.goals import with_results
from penstock.optimize.model.effort import Effort
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import DEFAULT_OPTIONS, PlanOptions
from penstock.optimize.preferences.order import PREFERENCES
from penstock.optimize.preferences.preference import Context, Plans, Preferred, reasons_told
from penstock.optimize.propose import proposals
from penstock.optimize.refine import refined
from penstock.optimize.refusals import refuse_unplannable, refuse_unreachable
from penstock.optimize.settle import settle
from penstock.optimize.weigh import weighed
from penstock.plan.decision import Decision
from penstock.stats.known import Known


def decide(
    known: Known, options: PlanOptions = DEFAULT_OPTIONS, effort: Effort | None = None
) -> Decision:
    """The best plan for a query, with the others from best to worst and the reason.

    `effort` counts what is weighed for it: it depends on the query and what is known of it alone.
    """
    effort = effort or Effort()
    known = refined(known, options, effort)
    problem = Problem(
        known.query,
        known,
        effort=effort,
        servers=options.servers,
        estimator=options.estimator,
    )
    refuse_unplannable(problem, options)
    options = with_results(problem, options)
    plans: Plans = weighed(problem, options, proposals(problem, options))
    refuse_unreachable(problem, options, plans)
    context, preferred = Context(problem, options), list[Preferred]()
    for prefer in PREFERENCES:
        preferred.append(prefer(plans, context))
        plans = preferred[-1].plans
    return settle(plans, reasons_told(preferred), context)
