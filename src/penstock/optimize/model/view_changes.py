"""How often a view changes: the groups that are told a second.

A group is told at an evaluation if since the last one a tuple came or went that has a part in it.
So its rate follows from how many tuples come and go, how many groups each of them touches, and how
many groups there are; at the most each group is told once an evaluation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import expm1, inf

from penstock.optimize.model.distinct import combinations, occupied
from penstock.optimize.model.flow import Flow
from penstock.optimize.model.folding import tick_seconds
from penstock.optimize.model.problem import Problem
from penstock.query import Expression, TimeWindow, View
from penstock.query.expression import streams_of
from penstock.query.keys import key_classes

Keep = Mapping[str, float]


def view_changes(problem: Problem, keep: Keep | None = None) -> float | None:
    """Changes/s of a query's view, None if it has none; `keep` are the fractions of its streams.

    Every row that is touched counts as changed, so that HAVING, MIN and MAX, which leave rows as
    they are, make it fewer. Keys and groups are independent and equally frequent.
    """
    query = problem.query
    if query.view is None:
        return None
    joined = {output.name: output.expression for output in query.outputs}
    groups = [joined[group.name] for group in query.view.groups]
    touched = sum(
        _events(problem, flow, keep or {}) * _touched(problem, groups, flow, keep or {})
        for flow in problem.inputs
        if flow.rate
    )
    told = _told(combinations(problem.known, groups), touched, tick_seconds(query))
    return min(told, _most_of_first(problem, query.view, joined))


def _most_of_first(problem: Problem, view: View, joined: Mapping[str, Expression]) -> float:
    """Changes/s that there can be among the first rows: all of them go, and as many others come."""
    top, period = view.top, tick_seconds(problem.query)
    if top is None or period <= 0.0 or not set(top.parts) <= set(view.groups):
        return inf
    parts = [joined[part.name] for part in view.groups if part in top.parts]
    at_once = top.count * combinations(problem.known, parts)
    return at_once * (2.0 if top.copies is None else 1.0) / period


def _told(count: float, touched: float, period: float) -> float:
    """Groups/s that are told if so many are touched a second, each as likely as the others."""
    if period <= 0.0 or count == inf:
        return touched
    return -count * expm1(-touched * period / count) / period


def _events(problem: Problem, flow: Flow, keep: Keep) -> float:
    """Tuples/s that come, and those that go, which are as many unless the window keeps all."""
    window = problem.query.input(flow.alias).window
    stays = isinstance(window, TimeWindow) and window.extent is None
    return flow.rate * keep.get(flow.alias, 1.0) * (1.0 if stays else 2.0)


def _touched(problem: Problem, groups: Sequence[Expression], flow: Flow, keep: Keep) -> float:
    """Groups into which the results of one tuple of an input fall, in the mean.

    They agree in all that the tuple decides. In the rest they are as different as the tuples that
    it meets of the inputs which decide that; of all others it must meet one at least.
    """
    open_ = [group for group in groups if not _decides(problem, flow.alias, group)]
    deciding = {alias for group in open_ for alias in streams_of(group)} - {flow.alias}
    bound = problem.mask([flow.alias])
    met, chance = 1.0, 1.0
    for other in sorted(problem.inputs, key=lambda each: each.alias not in deciding):
        mask = bound | problem.mask([other.alias])
        if mask == bound:
            continue
        apart = problem.fraction(bound)
        part = problem.fraction(mask) / apart if apart else 0.0
        matches = _size(other, keep) * part
        if other.alias in deciding:
            met *= matches
        else:
            chance *= min(1.0, matches) if other.is_table else -expm1(-matches)
        bound = mask
    return occupied(combinations(problem.known, open_), met) * chance if deciding else chance


def _size(flow: Flow, keep: Keep) -> float:
    return flow.window * (keep.get(flow.alias, 1.0) if flow.shrinks else 1.0)


def _decides(problem: Problem, alias: str, group: Expression) -> bool:
    """Whether a tuple of an input has the value itself, or its key has."""
    if streams_of(group) <= {alias}:
        return True
    return any(
        group in column
        for key in key_classes(problem.query)
        if alias in key.streams
        for column in zip(*(parts for _, parts in key.members), strict=True)
    )
