"""Views over ROWS windows: the work of batches that join windows anew where a tick is due.

Routes visit inputs before their driver in FROM with all that a batch joins and those after it with
nothing, so that a combination is found once. A batch without a tick joins nothing, but it takes in
what comes, and writes the windows anew.
"""

from __future__ import annotations

from collections.abc import Iterator

from penstock.optimize.algebra.posynomial import Monomial, Posynomial, gathered
from penstock.optimize.model.folding import BATCH, fold_seconds, tally_seconds
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.rows_met import RowsMet, has_rows
from penstock.optimize.model.work import (
    Term,
    arrival_seconds,
    as_posynomial,
    candidate_seconds,
    handing_of,
    handling_seconds,
    keep_seconds,
    settling_of,
    visits_of,
)
from penstock.plan.multiway import MultiwayJoin, ProbeOrder
from penstock.plan.tree import TreeJoin, branches, leaves


def rows_view_load(problem: Problem, plan: MultiwayJoin | TreeJoin) -> Posynomial:
    """Seconds of work a second, by the fractions kept; the plan's early inputs are folded."""
    met = RowsMet.of(problem)
    each = as_posynomial(problem, handing_of(problem), filters=True)
    joins = _branches(met, plan) if isinstance(plan, TreeJoin) else _routes(met, plan)
    tallied = _met(met, _tally(problem))
    return gathered((*each, *_keeping(problem), *_folding(met), *joins, *tallied))


def _routes(met: RowsMet, plan: MultiwayJoin) -> Iterator[Monomial]:
    yield from settling(met, plan)
    for order in plan.orders:
        yield from visiting(met, order)


def _branches(met: RowsMet, plan: TreeJoin) -> Iterator[Monomial]:
    """Everything arrives at the joins of a tree anew; each pair is found from one side."""
    problem = met.problem
    for branch in branches(plan.root):
        left, right = (problem.mask(leaves(side)) for side in (branch.left, branch.right))
        for mine, other in ((left, right), (right, left)):
            seconds = arrival_seconds(problem, branch.method) + keep_seconds(problem, mine)
            seconds += handling_seconds(problem, mine, other) + problem.sides.arrival(mine, other)
            yield from _met(met, _term(problem, mine, problem.fraction(mine) * seconds))
        key = None if branch.method == "nested" else problem.shared_key(left, right)
        weight = candidate_seconds(problem, left, right, key)
        yield from _met(met, _term(problem, left | right, weight))


def _term(problem: Problem, mask: int, weight: float) -> Term:
    first, *others = problem.members(mask)
    return Term(weight, first, frozenset(others))


def _met(met: RowsMet, term: Term) -> Iterator[Monomial]:
    mask = sum(1 << i for i in {term.driver, *term.others})
    for each in met.combinations(mask):
        yield Monomial(each.coefficient * term.weight, each.factors)


def _tally(problem: Problem) -> Term:
    """Each combination that satisfies all predicates is added to its group."""
    mask = problem.everything
    return _term(problem, mask, problem.fraction(mask) * tally_seconds(problem.known.costs))


def visiting(met: RowsMet, order: ProbeOrder) -> Iterator[Monomial]:
    """What the visits of a route take, until it comes to a stream after its driver in FROM, of
    which it finds nothing."""
    younger = met.younger(met.problem.places[order.driver])
    for term in visits_of(met.problem, order):
        if not any(younger >> i & 1 for i in term.others):
            yield from _met(met, term)


def settling(met: RowsMet, plan: MultiwayJoin) -> Iterator[Monomial]:
    """All rows of ROWS windows that are joined are sent to their partitions and sorted in a batch
    with a tick; of other windows the new ones are, as always."""
    problem = met.problem
    for term in settling_of(problem, plan, *plan.orders):
        if not has_rows(problem, problem.inputs[term.driver]):
            yield from as_posynomial(problem, (term,))
            continue
        was = met.parts[term.driver].rows * met.seen[term.driver]
        yield Monomial(term.weight * was / met.period, frozenset())
        new = met.arriving(term.driver) / met.period
        yield Monomial(term.weight * new, frozenset({term.driver}))


def _keeping(problem: Problem) -> Iterator[Monomial]:
    """Every batch takes new tuples into ROWS windows and old ones out, once however many keys they
    are searched by, and reads and writes all that is in them."""
    costs = problem.known.costs
    if costs.join is not None:
        return
    for i, flow in enumerate(problem.inputs):
        if has_rows(problem, flow):
            each = costs.insert + costs.expire + problem.sides.settle.get(1 << i, 0.0)
            yield Monomial(flow.rate * (costs.move + each), frozenset({i}))
            yield Monomial(flow.window * costs.move / BATCH, frozenset())


def _folding(met: RowsMet) -> Iterator[Monomial]:
    """Every tuple of an early ROWS window that is joined is folded in a batch with a tick."""
    problem = met.problem
    seconds = fold_seconds(problem.known.costs) / met.period
    for i, flow in enumerate(problem.inputs):
        if flow.occupied is not None and has_rows(problem, flow):
            yield Monomial(met.parts[i].rows * flow.window * seconds, frozenset())
            yield Monomial(flow.rate * BATCH * seconds, frozenset({i}))
