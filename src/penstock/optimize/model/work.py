"""The work, results and state of joins as sums of terms.

One unit for all: seconds of work a second. A tree pays for every tuple that arrives at a join,
inner results included; a multi-way plan for every arriving tuple and every partial result at each
probe.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import assert_never

from penstock.optimize.algebra.posynomial import Monomial, Posynomial, gathered
from penstock.optimize.model.folding import BATCH, changes, tally_seconds, tick_seconds
from penstock.optimize.model.problem import Problem, gain
from penstock.plan.mesh import Eddy, MeshJoin
from penstock.plan.multiway import Method, MultiwayJoin, ProbeOrder
from penstock.plan.plan import Plan
from penstock.plan.representative import representative
from penstock.plan.tree import Branch, TreeJoin, branches, leaves
from penstock.query.joins.outer import Side


@dataclass(frozen=True)
class Term:
    """Something that happens `weight` times for each new tuple of `driver` and each combination of
    tuples in the windows of `others`."""

    weight: float
    driver: int
    others: frozenset[int]


Terms = tuple[Term, ...]


def join_load(problem: Problem, plan: Plan) -> Posynomial:
    """The load of a plan that keeps what it has found, by the fractions kept of the inputs."""
    work = work_of(problem, plan) if _finds_pairs(problem) else _keeping_of(problem, plan)
    terms = (*work, *asking_of(problem), *delivery_of(problem, plan))
    return as_posynomial(problem, terms, filters=True)


def asking_seconds(problem: Problem) -> float:
    """Seconds a second that the tuples of outer joins take to ask for their partners."""
    return sum(each.coefficient for each in as_posynomial(problem, asking_of(problem)))


def output_of(problem: Problem, plan: Plan | None = None) -> Posynomial:
    """Results/s, by the fractions kept of the inputs; the same for all plans of one join. A plan
    that finds several joins has the combinations of all of them."""
    return as_posynomial(problem, results_of(problem, plan))


def combinations_of(problem: Problem, mask: int) -> tuple[Posynomial, Posynomial]:
    """Of a set of inputs: combinations/s, and combinations alive, by the fractions kept."""
    rate = as_posynomial(problem, _arrivals(problem, mask, problem.fraction(mask)))
    return rate, (_alive(problem, mask),)


def results_of(problem: Problem, plan: Plan | None = None) -> Terms:
    """The results as terms; of semi and anti joins, all that may have a partner or none."""
    if isinstance(plan, MultiwayJoin) and len(plan.joins) > 1:
        masks = [problem.mask(members) for members in plan.joins]
    else:
        masks = [problem.everything if _finds_pairs(problem) else _shown(problem)]
    found = (t for mask in masks for t in _arrivals(problem, mask, problem.fraction(mask)))
    return tuple(term for term in found if _brings_results(problem, term.driver))


def _brings_results(problem: Problem, driver: int) -> bool:
    """Whether a new tuple of an input can be the last of a result: not a change of a view that is
    met as it is."""
    return problem.query.view is not None or not problem.query.inputs[driver].is_relation


def delivery_of(problem: Problem, plan: Plan | None = None) -> Terms:
    """The seconds that the results take once they are found, as terms; the same for all plans of
    one join.

    A view adds each row of the join to its group first.
    """
    if problem.query.view is None:
        return handing_of(problem, plan)
    return (*_each_result(problem, tally_seconds(problem.known.costs)), *handing_of(problem))


def handing_of(problem: Problem, plan: Plan | None = None) -> Terms:
    """The seconds that handing over takes, as terms: of all results, or of a view's changes."""
    costs = problem.known.costs
    result = costs.result if costs.join is None else 0.0
    if result and problem.query.view is not None:
        result *= changes(problem)
    return _each_result(problem, result, plan)


def _each_result(problem: Problem, seconds: float, plan: Plan | None = None) -> Terms:
    found = results_of(problem, plan)
    return tuple(replace(term, weight=term.weight * seconds) for term in found)


def asking_of(problem: Problem) -> Terms:
    """The seconds that tuples of outer joins take to ask for their partners, as terms; the same for
    all plans.

    Each combination of preserved tuples asks once, by a probe of its own, and looks at all the
    partners that it had. Under a view all of them ask in each batch that evaluates it.
    """
    outer = problem.query.outer
    if outer is None:
        return ()
    sides = outer.sides if outer.is_single else [Side(outer.core, s.nullable) for s in outer.sides]
    return tuple(term for side in sides for term in _asks(problem, side))


def _asks(problem: Problem, side: Side) -> Iterator[Term]:
    mine, other = problem.mask(side.preserved), problem.mask([side.nullable])
    often = _askings(problem, mine) if problem.query.view is not None else 1.0
    visit = often * visit_seconds(problem, "sorted")
    if mine.bit_count() > 1:
        yield from (Term(visit, driver, frozenset()) for driver in problem.members(mine))
    yield from _arrivals(problem, mine, visit * problem.fraction(mine))
    key = problem.shared_key(mine, other)
    weight = often * candidate_seconds(problem, mine, other, key)
    yield from _combinations(problem, mine, other, weight)
    yield from _combinations(problem, other, mine, weight)


def _askings(problem: Problem, mask: int) -> float:
    """The batches that evaluate a view for as long as a combination lives."""
    period = max(BATCH, tick_seconds(problem.query))
    flows = [problem.inputs[i] for i in problem.members(mask) if problem.inputs[i].rate]
    return max(1.0, min((flow.window / flow.rate / period for flow in flows), default=1.0))


def _finds_pairs(problem: Problem) -> bool:
    """Whether a plan's own routes are run: under a semi or anti join tuples ask, and nothing
    else."""
    outer = problem.query.outer
    return outer is None or outer.has_pairs


def _shown(problem: Problem) -> int:
    """The inputs that results of semi and anti joins have columns of."""
    outer = problem.query.outer
    assert outer is not None, "there is such a join"
    chosen = {join.nullable for join in outer.joins if not join.has_pairs}
    return problem.mask(alias for alias in problem.query.aliases if alias not in chosen)


def _keeping_of(problem: Problem, plan: Plan) -> Terms:
    """The work of keeping new tuples, as terms; semi and anti joins have no trees."""
    assert not isinstance(plan, TreeJoin), "its pairs would not be results"
    joined = representative(plan)
    return settling_of(problem, joined, *joined.orders)


def work_of(problem: Problem, plan: Plan) -> Terms:
    """The seconds of work of a plan's joins as terms, without filters and delivery."""
    match plan:
        case TreeJoin(root=root):
            return tuple(t for branch in branches(root) for t in _branch_work(problem, branch))
        case MultiwayJoin() | MeshJoin() | Eddy():
            joined = representative(plan)
            return (
                *settling_of(problem, joined, *joined.orders),
                *(term for order in joined.orders for term in visits_of(problem, order)),
            )
        case _:
            assert_never(plan)


def as_posynomial(problem: Problem, terms: Iterable[Term], filters: bool = False) -> Posynomial:
    """Terms at full windows. A time window shrinks with its stream, a ROWS window does not."""
    inputs = problem.inputs
    monomials = [
        Monomial(
            term.weight * inputs[term.driver].rate * prod(inputs[i].window for i in term.others),
            frozenset({term.driver, *(i for i in term.others if inputs[i].shrinks)}),
        )
        for term in terms
    ]
    if filters:
        monomials += [
            Monomial(flow.raw_rate * flow.filter_cost, frozenset({i}))
            for i, flow in enumerate(inputs)
        ]
    return gathered(monomials)


def state_of(problem: Problem, plan: Plan) -> Posynomial:
    """Tuples of streams and inner results in all windows, by the fractions kept."""
    sets = [1 << i for i, flow in enumerate(problem.inputs) if not flow.is_table]
    match plan:
        case TreeJoin(root=root):
            sets += [
                problem.mask(leaves(branch)) for branch in branches(root) if branch is not root
            ]
        case MultiwayJoin() | MeshJoin() | Eddy():
            pass
        case _:
            assert_never(plan)
    return gathered(_alive(problem, mask) for mask in sets)


def _alive(problem: Problem, mask: int) -> Monomial:
    shrinking = frozenset(i for i in problem.members(mask) if problem.inputs[i].shrinks)
    return Monomial(float(problem.alive[mask]), shrinking)


def _branch_work(problem: Problem, branch: Branch) -> Iterator[Term]:
    left, right = problem.mask(leaves(branch.left)), problem.mask(leaves(branch.right))
    for mine, other in ((left, right), (right, left)):
        yield from side_work(problem, branch.method, mine, other)


def side_work(problem: Problem, method: Method, mine: int, other: int) -> Iterator[Term]:
    """The work of what is new on one side of a binary join, which probes the other's state."""
    arrival = arrival_seconds(problem, method) + keep_seconds(problem, mine)
    arrival += handling_seconds(problem, mine, other) + problem.sides.arrival(mine, other)
    yield from _arrivals(problem, mine, problem.fraction(mine) * arrival)
    key = None if method == "nested" else problem.shared_key(mine, other)
    weight = candidate_seconds(problem, mine, other, key)
    yield from _combinations(problem, mine, other, weight)


def settling_of(problem: Problem, plan: MultiwayJoin, *orders: ProbeOrder) -> Terms:
    """The work of new tuples of drivers of a multi-way join before they visit others, as terms."""
    costs = problem.known.costs
    if costs.join is not None:
        return ()
    tables = _tables_of(plan, problem)
    settle = problem.sides.settle

    def seconds(driver: str) -> float:
        each = costs.insert + costs.expire + settle.get(problem.mask([driver]), 0.0)
        return costs.move + costs.search + max(1, len(tables[driver])) * each

    # Of a driver with several orders the new tuples are kept once.
    drivers = dict.fromkeys(order.driver for order in orders)
    return tuple(Term(seconds(each), problem.places[each], frozenset()) for each in drivers)


def visits_of(problem: Problem, order: ProbeOrder) -> Iterator[Term]:
    """The work of the visits of a probe order, as terms."""
    costs = problem.known.costs
    driver = problem.query.aliases.index(order.driver)
    bound, here = 1 << driver, None
    for probe in order.probes:
        target = problem.mask([probe.target])
        others = frozenset(problem.members(bound)) - {driver}
        key = None if probe.method == "nested" else probe_key(problem, bound, target, here)
        visit = visit_seconds(problem, probe.method)
        if costs.join is None and others and (key is None or key != here):
            visit += costs.move
        visit += handling_seconds(problem, bound, target) + problem.sides.probe.get(target, 0.0)
        yield Term(problem.fraction(bound) * visit, driver, others)
        weight = candidate_seconds(problem, bound, target, key)
        if weight:
            yield Term(weight, driver, others | set(problem.members(target)))
        bound |= target
        here = key


def probe_key(problem: Problem, bound: int, target: int, here: int | None) -> int | None:
    """The key class by which a target is probed: the one already there by, if it serves."""
    if here is not None and problem.key_masks[here] & target:
        return here
    return problem.shared_key(bound, target)


def _tables_of(plan: MultiwayJoin, problem: Problem) -> dict[str, set[int | None]]:
    """The key classes by which each input's window is searched."""
    found: dict[str, set[int | None]] = {alias: set() for alias in problem.query.aliases}
    for order in plan.orders:
        for target, key in searched_by(problem, order):
            found[target].add(key)
    return found


def searched_by(problem: Problem, order: ProbeOrder) -> Iterator[tuple[str, int | None]]:
    """The inputs that a route visits, each with the key class by which its window is searched."""
    bound, here = problem.mask([order.driver]), None
    for probe in order.probes:
        mask = problem.mask([probe.target])
        here = None if probe.method == "nested" else probe_key(problem, bound, mask, here)
        yield probe.target, here
        bound |= mask


def arrival_seconds(problem: Problem, method: Method) -> float:
    """Seconds that a binary join takes for an arriving tuple, without what it finds."""
    costs = problem.known.costs
    if costs.join is not None:
        return costs.join
    return costs.move + costs.insert + costs.expire + visit_seconds(problem, method)


def visit_seconds(problem: Problem, method: Method) -> float:
    """Seconds that one visit to a window takes, without what it finds there."""
    costs = problem.known.costs
    if costs.join is not None:
        return costs.join
    return costs.probe + (0.0 if method == "nested" else costs.hash)


def handling_seconds(problem: Problem, one: int, other: int) -> float:
    """Seconds that an arrival takes at a join for the equalities that are decided there."""
    both = one | other
    return sum(
        seconds
        for mask, seconds in problem.handling_masks
        if mask & both == mask and mask & one and mask & other
    )


def keep_seconds(problem: Problem, mask: int) -> float:
    """Seconds that keeping an inner result takes."""
    costs = problem.known.costs
    return costs.keep if costs.join is None and mask.bit_count() > 1 else 0.0


def candidate_seconds(problem: Problem, bound: int, target: int, key: int | None) -> float:
    """Seconds a combination of both sides' tuples takes at a join: comparing what the search
    finds, then the predicates that can be decided here."""
    known = problem.known
    both = bound | target
    apart = problem.fraction(bound) * problem.fraction(target)
    found = apart * (1.0 if key is None else float(gain(problem.key_fraction(key), bound, target)))
    compare = 0.0 if known.costs.join is not None else known.costs.compare
    seconds = found * compare
    reaching = apart * float(gain(problem.equal_fractions, bound, target))
    for mask, figures in problem.theta_masks:
        if mask & both == mask and mask & bound and mask & target:
            seconds += reaching * figures.cost.value
            reaching *= figures.selectivity.value
    return seconds


def _arrivals(problem: Problem, mask: int, weight: float) -> Iterator[Term]:
    """One term for each input that can bring the last member of a combination."""
    members = frozenset(problem.members(mask))
    for driver in members:
        if problem.inputs[driver].rate:
            yield Term(weight, driver, members - {driver})


def _combinations(problem: Problem, mine: int, other: int, weight: float) -> Iterator[Term]:
    if weight:
        everything = frozenset(problem.members(mine | other))
        for driver in problem.members(mine):
            if problem.inputs[driver].rate:
                yield Term(weight, driver, everything - {driver})
