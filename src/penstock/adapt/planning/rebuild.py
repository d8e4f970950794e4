"""Rebuilding: the seconds that a switch takes for state that the running plan does not keep."""

from __future__ import annotations

from dataclasses import replace

from penstock.duration import MICROS
from penstock.engine.run.options import REBUILT_AT_ONCE
from penstock.optimize.model.folding import tally_seconds
from penstock.optimize.model.problem import Problem
from penstock.plan.plan import Plan, recomputed_by
from penstock.plan.tree import TreeJoin, branches, leaves
from penstock.query import TimeWindow
from penstock.query.window import Window


def rebuild_seconds(problem: Problem, running: Plan, new: Plan) -> float:
    """Seconds of work before the first batch of another plan.

    Windows belong to the streams: probe orders, routes, filters and drop boxes change for nothing.
    What an inner join of a tree keeps is found anew from the windows, all of it as soon as one is
    missing; so is the interval table of a view that was recomputed.
    """
    seconds = 0.0
    wanted, there = inner_sets(new), inner_sets(running)
    if wanted and (not wanted <= there or new.early != running.early):
        seconds += sum(_making(problem, problem.mask(members)) for members in wanted)
    lacks_intervals = recomputed_by(running) is not None and recomputed_by(new) is None
    if lacks_intervals and problem.query.view is not None:
        seconds += _making(problem, problem.everything)
        seconds += float(problem.alive[problem.everything]) * tally_seconds(problem.known.costs)
    return seconds


def fill_seconds(problem: Problem, new: Plan) -> float:
    """Seconds of event time until a plan is in force whose inner state is not there.

    Where windows are large it fills itself, for as long as they reach, while the plan before gives
    the results; where they have no end, or few rows, it is rebuilt at once
    (`engine/run/inner_state.py`).
    """
    members = {alias for each in inner_sets(new) for alias in each}
    rows = sum(flow.window for flow in problem.inputs if flow.alias in members)
    windows = [problem.query.input(alias).window for alias in members]
    lengths = [_length(window) for window in windows if window is not None]
    if rows <= REBUILT_AT_ONCE or None in lengths:
        return 0.0
    return max((each or 0.0 for each in lengths), default=0.0)


def _length(window: Window) -> float | None:
    """The seconds that a window reaches; None if it has no end."""
    if not isinstance(window, TimeWindow) or window.extent is None:
        return None
    return (window.extent + window.slide) / MICROS


def inner_sets(plan: Plan) -> frozenset[frozenset[str]]:
    """The inputs of each inner join that a plan keeps."""
    if not isinstance(plan, TreeJoin):
        return frozenset()
    inner = (branch for branch in branches(plan.root) if branch is not plan.root)
    return frozenset(frozenset(leaves(branch)) for branch in inner)


def with_rows(problem: Problem, rows: dict[str, float]) -> Problem:
    """The problem with windows of so many rows as there are now, as far as that is known."""
    flows = (replace(f, window=rows.get(f.alias, f.window)) for f in problem.inputs)
    return problem.with_flows(tuple(flows))


def _making(problem: Problem, mask: int) -> float:
    """Seconds to find all combinations of a set that are alive, and to keep them."""
    costs = problem.known.costs
    found = float(problem.alive[mask])
    rows = sum(problem.inputs[i].window for i in problem.members(mask))
    if costs.join is not None:
        return (found + rows) * costs.join
    keeping = costs.compare + costs.insert + costs.keep
    return found * keeping + rows * (costs.probe + costs.hash + costs.move)
