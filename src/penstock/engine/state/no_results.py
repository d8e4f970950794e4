"""No results: why nothing comes out of a query, as far as the figures of its batches tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import permutations

from penstock.duration import Duration
from penstock.engine.rows.event_time import moment
from penstock.engine.rows.lifetimes import FOREVER, oldest_alive
from penstock.engine.rows.ticks import Ticks
from penstock.engine.state.frontier import frontier_of, late_below
from penstock.engine.state.manifest import Manifest, StreamState
from penstock.query import Query
from penstock.query.query import Input

# A longer condition is cut off: this is for a line on a terminal.
_LONGEST = 60
_DRAIN = "--drain answers what waits, if the streams end here"


@dataclass(frozen=True)
class Waiting:
    """The reason why a query has no results yet, or never will, and what may be done about it."""

    reason: str
    hint: str | None = None


def why_no_results(query: Query, standing: Manifest) -> Waiting | None:
    """Why a batch brought no results; None if the figures do not tell.

    The likeliest reason comes first. Where there were results before, it is only the frontier that
    the next ones can wait for. One whose combinations others take has no results of its own.
    """
    if standing.takers:
        return None
    reasons = _REASONS if standing.results == 0 else (_waits_for_frontier,)
    return next((found for reason in reasons if (found := reason(query, standing))), None)


def _has_no_tuple(query: Query, standing: Manifest) -> Waiting | None:
    for item in query.inputs:
        state = _state(standing, item)
        if state.highest is not None and state.rows > state.late:
            continue
        name = item.alias
        if state.rows:
            return Waiting(f"all of {name} came too late ({state.late:,} of {state.rows:,})")
        if state.malformed:
            return Waiting(f"all rows of {name} are malformed ({state.malformed:,})")
        if state.unreadable:
            return Waiting(f"no file of {name} can be read (of {state.unreadable:,})")
        if item.is_table:
            return Waiting(f"joins nothing: table {name} is empty")
        if standing.is_closed or state.passed is not None or _asker(query) is None:
            yet = "" if standing.is_closed else " yet"
            what = "joins nothing: " if len(query.inputs) > 1 else ""
            return Waiting(f"{what}no tuple of {name}{yet}")
        hint = "--drain answers without it, where the streams end for good"
        if item.source.idle is None:
            hint += f"; idle='1 minute' in WITH of {item.source.name} passes it while they go on"
        return Waiting(f"{_asker(query)} for {name}: no tuple yet", hint)
    return None


def _sheds_everything(query: Query, standing: Manifest) -> Waiting | None:
    for item in query.streams:
        state, shed = _state(standing, item), standing.total_shed.get(item.alias, 0)
        if shed and shed >= state.rows - state.late:
            return Waiting(f"all of {item.alias} is shed ({shed:,} tuples)")
    return None


def _filters_everything(query: Query, standing: Manifest) -> Waiting | None:
    for item in query.inputs:
        taken, passed = standing.screened.get(item.alias, (0, 0))
        if taken and not passed:
            return Waiting(f"filter on {item.alias} lets nothing pass (0 of {taken:,})")
    return None


def _lies_apart(query: Query, standing: Manifest) -> Waiting | None:
    """The two streams that are farthest apart, if a window does not reach from one to the other."""
    gaps: list[tuple[int, str, str]] = []
    for early, late in permutations(query.streams, 2):
        end, begin = _state(standing, early).highest, _state(standing, late).lowest
        if end is not None and begin is not None and end < oldest_alive(early.window, begin):
            gaps.append((begin - end, late.alias, early.alias))
    if not gaps:
        return None
    gap, ahead, behind = max(gaps)
    hint = f"the window of {behind} does not reach so far; have both times the same unit and zone?"
    return Waiting(f"joins nothing: {ahead} is {Duration(gap).about} ahead of {behind}", hint)


def _waits_for_frontier(query: Query, standing: Manifest) -> Waiting | None:
    """Which stream holds up a view or ROWS windows, until they have answered once."""
    asker = _asker(query)
    if asker is None or standing.is_closed:
        return None
    frontier = frontier_of(query.stream_sources.values(), standing.streams)
    if frontier <= -FOREVER:
        return _has_no_tuple(query, standing)
    due = _due_after(query, frontier)
    if standing.results == 0 and due > _due_after(query, _begin(query, standing)):
        return None
    bounds = {i.alias: late_below(i.source, _state(standing, i)) for i in query.streams}
    ends = {i.alias: _state(standing, i).highest or -FOREVER for i in query.streams}
    slowest, leader = min(bounds, key=bounds.__getitem__), max(ends, key=ends.__getitem__)
    if slowest != leader and due <= ends[leader]:
        behind = Duration(ends[leader] - frontier).about
        return Waiting(f"{asker} for {slowest}: {behind} behind {leader}", _DRAIN)
    if query.view is None:
        return Waiting(f"{asker} for a tuple of {slowest} after {moment(frontier)}", _DRAIN)
    where = f"{slowest} to pass {moment(due)}; it is at {moment(frontier)}"
    return Waiting(f"{asker} for {where}", _DRAIN)


def _matches_nothing(query: Query, standing: Manifest) -> Waiting | None:
    conditions = " AND ".join(map(str, (*query.equalities, *query.thetas)))
    if not conditions:
        return None
    cut = conditions if len(conditions) <= _LONGEST else f"{conditions[: _LONGEST - 1]}…"
    return Waiting(f"no match{'' if standing.is_closed else ' yet'} for {cut}")


_REASONS: tuple[Callable[[Query, Manifest], Waiting | None], ...] = (
    _has_no_tuple,
    _sheds_everything,
    _filters_everything,
    _lies_apart,
    _waits_for_frontier,
    _matches_nothing,
)


def _asker(query: Query) -> str | None:
    """Who waits for the frontier; a join over time windows does not."""
    if query.view is not None:
        return "view waits"
    return "ROWS windows wait" if query.is_sequenced else None


def _due_after(query: Query, time: int) -> int:
    """The first time that is not answered for when the frontier is at `time`."""
    ticks = Ticks.of(query)
    return time if ticks is None else ticks.next_after(time)


def _begin(query: Query, standing: Manifest) -> int:
    """When all streams have begun."""
    lowest = [_state(standing, item).lowest for item in query.streams]
    return max(-FOREVER if time is None else time for time in lowest)


def _state(standing: Manifest, item: Input) -> StreamState:
    streams: Mapping[str, StreamState] = standing.streams
    return streams.get(item.source.name, StreamState())
