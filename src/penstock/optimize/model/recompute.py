"""Recomputed views: the work of batches that join all that is in the windows.

What is seen of a cell of an input that is aggregated early, while nothing in it comes or goes, is
one *segment*; of other inputs each row is. The segments of one stream visit those of the others
that are seen at the same time. A batch in which no evaluation is due does nothing of this.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from penstock.duration import MICROS
from penstock.optimize.algebra.posynomial import Monomial, Posynomial, gathered
from penstock.optimize.model.flow import Flow
from penstock.optimize.model.folding import BATCH, fold_seconds, tally_seconds, tick_seconds
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.work import Term, as_posynomial, handing_of, settling_of, visits_of
from penstock.plan.multiway import MultiwayJoin
from penstock.query.window import UNBOUNDED


def recompute_load(problem: Problem, plan: MultiwayJoin, driver: str) -> Posynomial:
    """Seconds of work a second, by the fractions kept; the plan's early inputs are folded."""
    settling = settling_of(problem, plan, *plan.orders)
    each = as_posynomial(problem, (*settling, *handing_of(problem)), filters=True)
    joining = (*visits_of(problem, plan.order(driver)), _tally(problem))
    return gathered((*each, *_merging(problem), *(_joined(problem, term) for term in joining)))


def meetings(problem: Problem, mask: int) -> float:
    """Combinations/s of segments that are seen together, whatever their predicates say.

    A batch meets all that are seen at its first tick, and at every other those that have changed.
    """
    flows = [problem.inputs[i] for i in problem.members(mask)]
    more = max(1.0, BATCH / tick_seconds(problem.query)) - 1.0
    same = prod(1.0 - _change(problem, flow) for flow in flows)
    return prod(map(_seen, flows)) * (1.0 + more * (1.0 - same)) / _period(problem)


def unfolded_seconds(problem: Problem, early: tuple[str, ...]) -> float:
    """Seconds a second of merging the early inputs' windows if nothing in them were folded."""
    rows = sum(flow.window for flow in problem.inputs if flow.alias in early)
    return rows * fold_seconds(problem.known.costs) / _period(problem)


def of_segments(problem: Problem) -> Problem:
    """The problem whose tuples are the segments, each stream's all new in every batch.

    Its best probe orders are those of recomputed views, if a batch has one tick.
    """
    period = _period(problem)
    flows = tuple(
        replace(flow, rate=0.0 if flow.is_table else _seen(flow) / period, window=_seen(flow))
        for flow in problem.inputs
    )
    return Problem(problem.query, problem.known, flows, problem.effort)


def _tally(problem: Problem) -> Term:
    """Each combination that satisfies all predicates is added to its group."""
    mask = problem.everything
    first, *others = problem.members(mask)
    seconds = tally_seconds(problem.known.costs)
    return Term(problem.fraction(mask) * seconds, first, frozenset(others))


def _joined(problem: Problem, term: Term) -> Monomial:
    """The work for each combination of a term's inputs, of segments instead of tuples."""
    members = {term.driver, *term.others}
    met = meetings(problem, sum(1 << i for i in members))
    return Monomial(term.weight * met, _shrinking(problem, members))


def _merging(problem: Problem) -> Iterator[Monomial]:
    """Every row that a batch sees of an early input is added to its segments."""
    fold = fold_seconds(problem.known.costs)
    beyond = max(0.0, BATCH - tick_seconds(problem.query))
    for i, flow in enumerate(problem.inputs):
        if flow.occupied is not None:
            rows = flow.window + flow.rate * beyond
            yield Monomial(rows / _period(problem) * fold, _shrinking(problem, {i}))


def _shrinking(problem: Problem, members: set[int]) -> frozenset[int]:
    return frozenset(i for i in members if problem.inputs[i].shrinks)


def _seen(flow: Flow) -> float:
    """Segments of an input that are seen at one time; a tuple is alive for a microsecond."""
    alive = flow.window if flow.occupied is None else flow.occupied
    return max(alive, flow.rate / MICROS)


def _change(problem: Problem, flow: Flow) -> float:
    """The chance that a segment seen at a tick was not there at the one before.

    A row has come to its cell, or else one has left it to others; rows of different ticks fall
    into cells independently.
    """
    if not flow.rate:
        return 0.0
    rows = flow.rate * tick_seconds(problem.query)
    stays = problem.query.input(flow.alias).window == UNBOUNDED
    came = min(1.0, rows / _seen(flow))
    left = 0.0 if stays else min(1.0, rows / flow.cells)
    return came + (1.0 - came) * left


def _period(problem: Problem) -> float:
    """Seconds between two batches in which an evaluation is due."""
    return max(BATCH, tick_seconds(problem.query))
