"""Recomputed views: of every set that keeps little, the plan of which each batch recomputes all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from penstock.duration import MICROS
from penstock.optimize.algebra.posynomial import value
from penstock.optimize.joins.candidates import Proposal
from penstock.optimize.joins.probe_search import best_orders
from penstock.optimize.model.distinct import cells_of
from penstock.optimize.model.flow import Flow
from penstock.optimize.model.folding import with_early
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.recompute import of_segments, recompute_load
from penstock.optimize.views.early import LATE, MOST_INPUTS, early_sets
from penstock.plan.default_plan import default_plan
from penstock.plan.multiway import MultiwayJoin
from penstock.query import TimeWindow
from penstock.query.window import is_tumble

RECOMPUTED = "recomputed"
"""The search that proposes these plans, as explain names it."""


def recompute_plans(problem: Problem, off: frozenset[str]) -> Iterator[Proposal]:
    """Of every set that keeps little the plan that recomputes the view.

    Rows of ROWS windows have no segments, and where only one stream comes nothing is kept. The few
    sets that are weighed of many inputs were found by what views take that are kept.
    """
    is_large = problem.size > MOST_INPUTS
    if problem.query.is_sequenced or len(problem.query.streams) < 2 or is_large:
        return
    folding = _folding(problem)
    for early in early_sets(problem):
        if early != LATE and folding <= set(early):
            yield recompute_plan(problem, early, off), RECOMPUTED


def _folding(problem: Problem) -> set[str]:
    """Streams of which blocks, or what is there since a landmark, would grow beyond their cells."""
    pairs = zip(problem.query.inputs, problem.inputs, strict=True)
    return {
        flow.alias
        for item, flow in pairs
        if isinstance(item.window, TimeWindow)
        and (item.window.extent is None or is_tumble(item.window))
        and cells_of(problem.known, flow.alias).value < _most(item.window, flow)
    }


def _most(window: TimeWindow, flow: Flow) -> float:
    """The most tuples that are kept of a block, or since a landmark."""
    return flow.window if window.extent is None else flow.rate * window.slide / MICROS


def recompute_plan(
    problem: Problem, early: tuple[str, ...], off: frozenset[str] = frozenset()
) -> MultiwayJoin:
    """The plan that recomputes a view with the least work, whichever stream drives."""
    folded = with_early(problem, early)
    is_searched = "probe-order" not in off and problem.size > 2
    joined = best_orders(of_segments(folded)) if is_searched else default_plan(problem.query)
    full = [1.0] * problem.size
    drivers = [stream.alias for stream in problem.query.streams]
    best = min(drivers, key=lambda driver: value(recompute_load(folded, joined, driver), full))
    return replace(joined, early=early, recompute=best)
