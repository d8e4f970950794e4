"""The part of a view's windows that is joined where a tick is due and the rest is as it was.

Groups are told by a key (`penstock.query.traces`). A batch with a tick joins what has the keys of
tuples that came or went since the tick before; of other inputs what these lead to.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf

from penstock.optimize.model.distinct import combinations, distinct_values, occupied
from penstock.optimize.model.flow import Flow
from penstock.optimize.model.folding import BATCH, tick_seconds
from penstock.optimize.model.problem import Problem
from penstock.query import TimeWindow
from penstock.query.traces import GROUPS, Trace, trace_of


@dataclass(frozen=True)
class ChangedPart:
    """Of an input: the part of its keys that may have changed, the part of its window that has come
    since the last evaluation or goes before this one, and how much of that leads to a group."""

    keys: float = 1.0
    own: float = 0.0
    leads: float = 1.0

    @property
    def rows(self) -> float:
        """The part of the window that is joined."""
        return 1.0 - (1.0 - self.keys) * (1.0 - self.own * self.leads)


def changed_parts(problem: Problem) -> tuple[ChangedPart, ...]:
    """The parts of all inputs: everything where nothing tells the groups."""
    trace = trace_of(problem.query)
    if trace is None:
        return (ChangedPart(),) * problem.size
    # Folding leaves fewer rows of the same keys.
    return _parts(Problem(problem.query, problem.known), trace)


def _parts(problem: Problem, trace: Trace) -> tuple[ChangedPart, ...]:
    by_class = {trace.root: ChangedPart(_changed(problem, trace)[trace.root])}
    for link in trace.links:
        window, keys = _window(problem, link.alias), _keys(problem, trace, link.outer)
        inner = by_class[link.inner]
        rows = ChangedPart(inner.keys, _own(problem, link.alias), inner.leads).rows * window
        coming = problem.inputs[problem.places[link.alias]].rate * BATCH
        leads = inner.leads * _share(keys, window + coming)
        by_class[link.outer] = ChangedPart(_share(keys, rows + coming), leads=leads)
    others = 1.0 - _of_everything(problem, trace)
    found = []
    for alias in problem.query.aliases:
        mine = [by_class[key] for key in _classes(problem, trace, alias)]
        keys = 1.0 - others * (1.0 - min((part.keys for part in mine), default=1.0))
        leads = 1.0 - others * (1.0 - max((part.leads for part in mine), default=1.0))
        found.append(ChangedPart(keys, _own(problem, alias), leads))
    return tuple(found)


def _own(problem: Problem, alias: str) -> float:
    """The part of a window's tuples that came since the last evaluation or go in the batch."""
    flow = problem.inputs[problem.places[alias]]
    if flow.is_table or not flow.window:
        return 0.0
    return min(1.0, flow.rate * max(BATCH, tick_seconds(problem.query)) / flow.window)


def _changed(problem: Problem, trace: Trace) -> dict[int, float]:
    """The part of the keys of each class in which something has changed, from the outside in."""
    keys = {key: _keys(problem, trace, key) for key in trace.classes}
    events = dict.fromkeys(trace.classes, 0.0)
    for alias, key in trace.told_by.items():
        events[key] += _events(problem, problem.inputs[problem.places[alias]])
    for link in reversed(trace.links):
        part = _share(keys[link.outer], events[link.outer])
        events[link.inner] += part * _window(problem, link.alias)
    return {key: _share(keys[key], events[key]) for key in trace.classes}


def _of_everything(problem: Problem, trace: Trace) -> float:
    """How often a stream that leads to no key has changed, and so everything may have."""
    flows = [flow for flow in problem.inputs if flow.alias not in trace.told_by]
    return 1.0 - exp(-sum(_events(problem, flow) for flow in flows))


def _events(problem: Problem, flow: Flow) -> float:
    """Tuples that come and go from one evaluation to the next."""
    window = problem.query.input(flow.alias).window
    stays = isinstance(window, TimeWindow) and window.extent is None
    return flow.rate * max(BATCH, tick_seconds(problem.query)) * (1.0 if stays else 2.0)


def _classes(problem: Problem, trace: Trace, alias: str) -> list[int]:
    """The classes by which tuples of an input are chosen."""
    keys = [k for k in trace.classes if k != GROUPS and alias in problem.keys[k].streams]
    return [*keys, GROUPS] if alias == trace.pivot else keys


def _keys(problem: Problem, trace: Trace, key: int) -> float:
    """The different keys of a class, or the groups that the pivot's columns tell apart."""
    if key == GROUPS:
        return combinations(problem.known, trace.parts)
    columns = zip(*(parts for _, parts in problem.keys[key].members), strict=True)
    found = 1.0
    for column in columns:
        found *= max(distinct_values(problem.known, part).value for part in column)
    return found


def _window(problem: Problem, alias: str) -> float:
    return problem.inputs[problem.places[alias]].window


def _share(keys: float, rows: float) -> float:
    """The part of equally likely keys that so many rows have; of endlessly many, none."""
    return 0.0 if keys == inf else min(1.0, occupied(keys, rows) / max(keys, 1.0))
