"""The query as it is planned: its filters where, and its predicates in the order in which, they
cost the least."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from penstock.figure import Figure
from penstock.optimize.estimate import needed_by
from penstock.optimize.filters.condition_order import by_rank
from penstock.optimize.filters.placement import with_late_filters
from penstock.optimize.joins.candidates import SEVERAL_SEARCHES
from penstock.optimize.model.effort import Effort
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import PlanOptions
from penstock.optimize.propose import proposals
from penstock.query.goal import STEADY
from penstock.stats.known import Known


def refined(known: Known, options: PlanOptions, effort: Effort) -> Known:
    """The same query with expensive filters where they cost least, and predicates by rank.

    Under an outer join no filter waits: who fails it would have to be kept from having partners.
    """
    if "late-filters" not in options.off and known.query.outer is None:
        known = with_late_filters(known, lambda late: _least_work(late, options, effort))
    return known if "filter-order" in options.off else _by_rank(known)


def _least_work(known: Known, options: PlanOptions, effort: Effort) -> float:
    """The work of the plan of least work, as if there were time for all: that is found fastest.

    A multi-way join stands for all plans where a search over trees takes long.
    """
    ample = replace(known, capacity=Figure(inf, "declared"))
    problem = Problem(known.query, ample, effort=effort)
    kinds = options.kinds - {"mesh"} if problem.size <= SEVERAL_SEARCHES else frozenset()
    kinds = kinds or frozenset({"multiway"})
    least = replace(options, goal=STEADY, kinds=kinds, alternatives=False, sheds=False)
    return min((needed_by(problem, plan) for plan, _ in proposals(problem, least)), default=inf)


def _by_rank(known: Known) -> Known:
    query = replace(
        known.query,
        filters=by_rank(known.query.filters, known.conditions),
        thetas=by_rank(known.query.thetas, known.conditions),
    )
    return replace(known, query=query)
