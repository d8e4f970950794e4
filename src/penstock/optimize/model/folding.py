"""Inputs that are aggregated early, as a problem: their rows are folded, so that fewer are joined.

Rows of an input that agree in its set's columns and in the ticks at which they come and go become
one (T&L). What is left joins like tuples do: keys are as selective as before, of fewer rows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from penstock.duration import MICROS
from penstock.optimize.model.distinct import cells_of, combinations, occupied
from penstock.optimize.model.flow import Flow
from penstock.optimize.model.problem import Problem
from penstock.query import Input, Query, RowsWindow, TimeWindow
from penstock.stats.costs import GUESSED_FOLD, GUESSED_TALLY, Costs

BATCH = 1.0
"""Seconds of a batch, within which new tuples are folded: what `--trigger` is unless it is said."""


WEIGHED_FOLD, WEIGHED_TALLY = 4.0, 3.0
"""How many times as long it takes to fold a tuple, and to tally a result, with weights: measured on
a join of two streams with 13 million results. Each of the streams has its part in the latter."""


def with_early(
    problem: Problem, early: tuple[str, ...], kept: Mapping[str, float] | None = None
) -> Problem:
    """The problem with some inputs folded.

    Half the tuples fold to more than half the rows. `kept` are the fractions for which the flows
    are right when they are multiplied with them; all, where they are not given.
    """
    if not early:
        return problem
    kept = kept or {}
    flows = tuple(
        _folded(problem, item, flow, kept.get(flow.alias, 1.0)) if flow.alias in early else flow
        for item, flow in zip(problem.query.inputs, problem.inputs, strict=True)
    )
    return problem.with_flows(flows)


def fold_seconds(costs: Costs) -> float:
    """Seconds to fold a tuple; where only joins have a cost, as much as an arrival at a join."""
    if costs.join is not None:
        return costs.join
    return GUESSED_FOLD if costs.fold is None else costs.fold


def tally_seconds(costs: Costs) -> float:
    """Seconds to add a row of the join to its group, likewise."""
    if costs.join is not None:
        return costs.join
    return GUESSED_TALLY if costs.tally is None else costs.tally


def tick_seconds(query: Query) -> float:
    """Seconds between two evaluations."""
    return 0.0 if query.view is None else query.view.every / MICROS


def with_sample_weights(
    problem: Problem, sampled: Collection[str] | None = None, early: Collection[str] = ()
) -> Problem:
    """The problem of a view that is shed from: what is left carries weights, from which the view is
    estimated.

    Which inputs are shed may be known, and which are folded early: the fewer of them are shed, the
    less there is to add up and to multiply.
    """
    known = problem.known
    if problem.query.view is None or known.costs.join is not None:
        return problem
    fold, tally = WEIGHED_FOLD, WEIGHED_TALLY
    if sampled is not None:
        both = len({*sampled} & {*early})
        fold = 1.0 + (WEIGHED_FOLD - 1.0) * (both / len(early) if early else 0.0)
        tally = 1.0 + len(sampled)
    costs = replace(
        known.costs,
        fold=fold * fold_seconds(known.costs),
        tally=tally * tally_seconds(known.costs),
    )
    return Problem(problem.query, replace(known, costs=costs), effort=problem.effort)


def changes(problem: Problem) -> float:
    """Groups that one row of the join changes, in the mean; a view shows each once a tick.

    The groups are those of all results, however few rows folding leaves of these.
    """
    query, known = problem.query, problem.known
    rows, results = (float(p.rates[p.everything]) for p in (problem, Problem(query, known)))
    if query.view is None or not rows:
        return 0.0
    joined = {output.name: output.expression for output in query.outputs}
    groups = combinations(known, (joined[group.name] for group in query.view.groups))
    return results / rows * _left(groups, results * tick_seconds(query))


def _folded(problem: Problem, item: Input, flow: Flow, kept: float) -> Flow:
    """Tuples are folded as they are read, and what is left of them where it is kept."""
    cells = cells_of(problem.known, item.alias).value
    passing = flow.rate / flow.raw_rate if flow.raw_rate else 0.0
    left = _left(cells, kept * _coming(problem.query, item, flow))
    # Tuples of ROWS windows are folded where they are joined (`rows_view`), not as they come.
    folds = 0.0 if isinstance(item.window, RowsWindow) else passing * (1.0 + left)
    return replace(
        flow,
        rate=flow.rate * left,
        window=flow.window * _left(cells, kept * _leaving(problem.query, item, flow)),
        cells=cells,
        occupied=flow.window * _left(cells, kept * flow.window),
        filter_cost=flow.filter_cost + folds * fold_seconds(problem.known.costs),
    )


def _coming(query: Query, item: Input, flow: Flow) -> float:
    """Tuples that come together: between two evaluations and in one batch.

    Of a ROWS window nobody knows when a tuple leaves, so that none is folded.
    """
    if isinstance(item.window, RowsWindow):
        return 0.0
    return flow.rate * min(tick_seconds(query), BATCH)


def _leaving(query: Query, item: Input, flow: Flow) -> float:
    """Tuples of the window that leave it together; those of a table stay, and so are all one."""
    match item.window:
        case RowsWindow():
            return 0.0
        case TimeWindow(extent=int(), slide=slide):
            return min(flow.window, flow.rate * max(slide / MICROS, tick_seconds(query)))
    return flow.window


def _left(cells: float, rows: float) -> float:
    """The fraction of rows that is left when those in one cell become one."""
    return occupied(cells, rows) / rows if rows > 0.0 else 1.0
