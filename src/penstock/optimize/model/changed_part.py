"""The part of a view's windows that is joined where a tick is due and the rest is as it was.

Groups are told by a key (`penstock.query.traces`). A batch with a tick joins what has the keys of
tuples that came or went since the tick before; of other inputs what these lead to.
"""

from __future__ import annotations

from math import exp, inf

from penstock.optimize.model.distinct import combinations, distinct_values, occupied
from penstock.optimize.model.flow import Flow
from penstock.optimize.model.folding import BATCH, tick_seconds
from penstock.optimize.model.problem import Problem
from penstock.query import TimeWindow
from penstock.query.traces import GROUPS, Trace, trace_of


def changed_parts(problem: Problem) -> tuple[float, ...]:
    """Of each input the part of its window that is joined: all of it where nothing tells groups."""
    trace = trace_of(problem.query)
    if trace is None:
        return (1.0,) * problem.size
    # Folding leaves fewer rows of the same keys.
    problem = Problem(problem.query, problem.known)
    return _parts(problem, trace)


def _parts(problem: Problem, trace: Trace) -> tuple[float, ...]:
    changed = _changed(problem, trace)
    others = 1.0 - _of_everything(problem, trace)
    by_class = {trace.root: changed[trace.root]}
    for link in trace.links:
        rows = by_class[link.inner] * _window(problem, link.alias)
        by_class[link.outer] = _share(_keys(problem, trace, link.outer), rows)
    found = []
    for alias in problem.query.aliases:
        mine = [by_class[key] for key in _classes(problem, trace, alias)]
        found.append(1.0 - others * (1.0 - min(mine, default=1.0)))
    return tuple(found)


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
