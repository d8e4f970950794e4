"""Views over ROWS windows: the work of batches that join whole windows where a tick is due.

Nobody knows when a tuple of a ROWS window will leave it, so that nothing is kept for later ticks:
a batch in which a tick is due joins all that is in the windows, and all that came in the batch.
Every row is new then. Routes visit inputs before their driver in FROM with all of that and those
after it with nothing, so that a combination is found once. A batch without a tick joins nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from penstock.optimize.algebra.posynomial import Monomial, Posynomial, gathered
from penstock.optimize.model.distinct import occupied
from penstock.optimize.model.flow import Flow
from penstock.optimize.model.folding import BATCH, fold_seconds, tally_seconds, tick_seconds
from penstock.optimize.model.problem import Problem
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
from penstock.query import RowsWindow


def rows_view_load(problem: Problem, plan: MultiwayJoin | TreeJoin) -> Posynomial:
    """Seconds of work a second, by the fractions kept; the plan's early inputs are folded."""
    each = as_posynomial(problem, handing_of(problem), filters=True)
    joins = _branches(problem, plan) if isinstance(plan, TreeJoin) else _routes(problem, plan)
    return gathered((*each, *_folding(problem), *joins, *_met(problem, _tally(problem))))


def _routes(problem: Problem, plan: MultiwayJoin) -> Iterator[Monomial]:
    yield from _settling(problem, plan)
    for order in plan.orders:
        yield from _visiting(problem, order)


def _branches(problem: Problem, plan: TreeJoin) -> Iterator[Monomial]:
    """Everything arrives at the joins of a tree anew; each pair is found from one side."""
    for branch in branches(plan.root):
        left, right = (problem.mask(leaves(side)) for side in (branch.left, branch.right))
        for mine, other in ((left, right), (right, left)):
            seconds = arrival_seconds(problem, branch.method) + keep_seconds(problem, mine)
            seconds += handling_seconds(problem, mine, other)
            yield from _met(problem, _term(problem, mine, problem.fraction(mine) * seconds))
        key = None if branch.method == "nested" else problem.shared_key(left, right)
        weight = candidate_seconds(problem, left, right, key)
        yield from _met(problem, _term(problem, left | right, weight))


def _term(problem: Problem, mask: int, weight: float) -> Term:
    first, *others = problem.members(mask)
    return Term(weight, first, frozenset(others))


def seen_rows(problem: Problem, flow: Flow) -> float:
    """Rows of an input that a batch joins of what was there before: all of a window, or what it is
    folded to. Those that leave in the batch fold with those that leave before the same tick."""
    if flow.occupied is None or not _is_rows(problem, flow):
        return flow.window if flow.occupied is None else flow.occupied
    leaving = min(flow.window, flow.rate * BATCH)
    return occupied(flow.cells, flow.window - leaving) + _by_tick(problem, flow, leaving)


def coming_rows(problem: Problem, flow: Flow) -> float:
    """Rows of an input that come in a batch; of an early one those are one that have their first
    tick in common."""
    rows = flow.rate * BATCH
    is_folded = flow.occupied is not None and _is_rows(problem, flow)
    return _by_tick(problem, flow, rows) if is_folded else rows


def _by_tick(problem: Problem, flow: Flow, rows: float) -> float:
    """What is left of rows that fold with those of the same tick of a batch."""
    ticks = max(1.0, BATCH / tick_seconds(problem.query))
    return ticks * occupied(flow.cells, rows / ticks)


def combinations_met(problem: Problem, mask: int) -> Iterator[Monomial]:
    """Combinations/s of rows that are alive together in a batch with a tick, as they depend on what
    is kept: of what was there, and of what comes with what was there."""
    members = problem.members(mask)
    seen = {i: seen_rows(problem, problem.inputs[i]) for i in members}
    shrinking = frozenset(i for i in members if problem.inputs[i].shrinks)
    period = max(BATCH, tick_seconds(problem.query))
    yield Monomial(prod(seen.values()) / period, shrinking)
    for i in members:
        coming = coming_rows(problem, problem.inputs[i])
        if coming:
            others = prod(rows for j, rows in seen.items() if j != i)
            yield Monomial(coming * others / period, shrinking | {i})


def _met(problem: Problem, term: Term) -> Iterator[Monomial]:
    mask = sum(1 << i for i in {term.driver, *term.others})
    for each in combinations_met(problem, mask):
        yield Monomial(each.coefficient * term.weight, each.factors)


def _tally(problem: Problem) -> Term:
    """Each combination that satisfies all predicates is added to its group."""
    mask = problem.everything
    return _term(problem, mask, problem.fraction(mask) * tally_seconds(problem.known.costs))


def _visiting(problem: Problem, order: ProbeOrder) -> Iterator[Monomial]:
    """What the visits of a route take, until it comes to an input after its driver in FROM, of
    which it finds nothing."""
    places = problem.places
    younger = {places[t] for t in order.targets if places[t] > places[order.driver]}
    for term in visits_of(problem, order):
        if not younger & term.others:
            yield from _met(problem, term)


def _settling(problem: Problem, plan: MultiwayJoin) -> Iterator[Monomial]:
    """All rows of ROWS windows are sent to their partitions and sorted in a batch with a tick; of
    other windows the new ones are, as always."""
    period = max(BATCH, tick_seconds(problem.query))
    for term in settling_of(problem, plan, *plan.orders):
        flow = problem.inputs[term.driver]
        if not _is_rows(problem, flow):
            yield from as_posynomial(problem, (term,))
            continue
        yield Monomial(term.weight * seen_rows(problem, flow) / period, frozenset())
        new = coming_rows(problem, flow) / period
        yield Monomial(term.weight * new, frozenset({term.driver}))


def _folding(problem: Problem) -> Iterator[Monomial]:
    """Every tuple of an early ROWS window is folded in a batch with a tick."""
    period = max(BATCH, tick_seconds(problem.query))
    seconds = fold_seconds(problem.known.costs)
    for i, flow in enumerate(problem.inputs):
        if flow.occupied is not None and _is_rows(problem, flow):
            yield Monomial(flow.window * seconds / period, frozenset())
            yield Monomial(flow.rate * BATCH * seconds / period, frozenset({i}))


def _is_rows(problem: Problem, flow: Flow) -> bool:
    return isinstance(problem.query.input(flow.alias).window, RowsWindow)
