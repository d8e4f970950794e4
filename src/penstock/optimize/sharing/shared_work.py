"""The work of a shared join: finding its combinations, and taking from them what is one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from penstock.optimize.algebra.posynomial import value
from penstock.optimize.estimate import estimate_of_kept
from penstock.optimize.model.effort import Effort
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.work import as_posynomial, combinations_of, delivery_of
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.optimize.sharing.common_figures import Knowns, common_known, knows_keys
from penstock.optimize.sharing.common_join import Sharer, common_query
from penstock.optimize.sharing.reading import receiving_all
from penstock.optimize.sharing.same_joins import united
from penstock.optimize.sharing.several_joins import joins_plan
from penstock.plan.decision import Alternative, Decision, Estimate
from penstock.plan.default_plan import default_plan
from penstock.plan.plan import Plan
from penstock.plan.sharing.offers import offers, turned_to
from penstock.plan.text.parse import render_plan
from penstock.query import Query
from penstock.stats.known import Known

SHARED_KINDS = frozenset({"tree", "multiway"})
"""Plans whose combinations others can take; a mesh sends tuples by what one query asks."""


@dataclass(frozen=True)
class SharedJoin:
    """A join that is found once for several queries: its decision, what each query does with what
    was found, and what it takes to receive its tuples, in seconds a second; and the tuples that
    are kept for all."""

    sharers: tuple[Sharer, ...]
    decision: Decision
    taking: tuple[float, ...]
    receiving: float
    kept: float

    @property
    def work(self) -> float:
        """The work of all of it, but for receiving what is read for all anyway."""
        return self.decision.chosen.estimate.utilization + sum(self.taking) - self.receiving


def shared_join(
    sharers: Sequence[Sharer],
    knowns: Knowns,
    options: PlanOptions,
    told: Callable[[Known], Known] | None = None,
) -> SharedJoin | None:
    """The best plan for the join that these queries have in common, or of which some or all have a
    part; None if there is no such join, or no plan of it that comes by those parts. What is known
    of it follows from what is known of them, and of what is `told` of the join itself."""
    join = united([each.named.join for each in sharers])
    if join is None:
        return None
    query = common_query(join, sharers)
    if not knows_keys(query, sharers):
        return None
    known = common_known(query, sharers, knowns)
    known = known if told is None else told(known)
    own = replace(
        options,
        kinds=options.kinds & SHARED_KINDS or frozenset({"multiway"}),
        off=options.off | {"late-filters"},
        alternatives=False,
    )
    problem = Problem(query, known, effort=Effort())
    decision = _decision(problem, own, {each.members for each in sharers})
    if decision is None:
        return None
    found = decision.chosen.estimate
    # What is found is handed to the queries at once, and they deliver their own results.
    handing = delivery(known, decision.plan)
    estimate = replace(
        found, utilization=found.utilization - handing, needed=found.needed - handing
    )
    decision = replace(decision, chosen=replace(decision.chosen, estimate=estimate))
    taking = tuple(
        _looking(each, knowns[each.name], _rate(problem, each)) + delivery(knowns[each.name])
        for each in sharers
    )
    return SharedJoin(tuple(sharers), decision, taking, receiving_all(known), kept_tuples(known))


def kept_tuples(known: Known) -> float:
    """The tuples of a query's windows, each for every key that it is kept by."""
    problem = Problem(known.query, known, effort=Effort())
    keys = [sum(mask >> i & 1 for mask in problem.key_masks) for i in range(problem.size)]
    return sum(flow.window * max(1, n) for flow, n in zip(problem.inputs, keys, strict=True))


def _decision(
    problem: Problem, options: PlanOptions, wanted: set[frozenset[str]]
) -> Decision | None:
    """The best plan that comes by all combinations wanted. Where nobody wants those of all inputs,
    these are not found either."""
    if frozenset(problem.query.aliases) in wanted:
        return _offering(problem, decide(problem.known, options), wanted)
    plan = joins_plan(problem, wanted)
    decision = decide(problem.known, replace(options, plan=render_plan(plan)))
    return replace(decision, reason="each join has its own orders", is_forced=False)


def _offering(problem: Problem, decision: Decision, wanted: set[frozenset[str]]) -> Decision | None:
    """The decision for the best plan that comes by all combinations wanted."""
    if offers(decision.plan, wanted):
        return decision
    found = [each for each in decision.others if offers(each.plan, wanted)][:1]
    turned = turned_to(decision.plan, wanted)
    if turned is not None:
        found.append(Alternative(turned, estimate_of_kept(problem, turned), ("sharing",)))
    if not found:
        return None
    return replace(decision, chosen=min(found, key=lambda each: each.estimate.work))


def _rate(problem: Problem, sharer: Sharer) -> float:
    """Combinations/s of a query's inputs as the shared join finds them."""
    rate, _ = combinations_of(problem, problem.mask(sorted(sharer.members)))
    return float(value(rate, [1.0] * problem.size))


def delivery(known: Known, plan: Plan | None = None) -> float:
    """Seconds a second that a query's results take once they are found, or those that a plan finds;
    of a view, to add them up too."""
    problem = Problem(known.query, known, effort=Effort())
    terms = delivery_of(problem, plan)
    return float(value(as_posynomial(problem, terms), [1.0] * problem.size))


def taken_decision(alone: Decision, query: Query, maker: str, work: float) -> Decision:
    """The decision of a query that takes combinations of another member, which is what its plan
    would have found."""
    found = alone.chosen.estimate
    estimate = Estimate(
        utilization=work,
        needed=work,
        output_rate=found.output_rate,
        full_rate=found.full_rate,
        state=0.0,
        keep=found.keep,
        changes=found.changes,
    )
    plan = default_plan(query)
    return replace(
        alone,
        chosen=Alternative(plan, estimate),
        others=(),
        reason=f"{maker} finds its combinations, and those of others",
        is_forced=False,
        delay=None,
    )


def _looking(sharer: Sharer, known: Known, rate: float) -> float:
    """Seconds a second that a query takes to find its own among `rate` combinations: each is
    compared once for its windows and for each condition."""
    query = sharer.query
    conditions = [known.conditions[str(c)] for c in (*query.filters, *query.thetas)]
    seconds = sum(each.cost.value for each in conditions)
    return rate * (seconds + known.costs.compare * (1 + len(conditions)))
