"""The frontier: the event time behind which no stream will go back. Times are microseconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from penstock.engine.rows.lifetimes import FOREVER
from penstock.engine.state.manifest import StreamState
from penstock.query.source import Source


def late_below(source: Source, state: StreamState | None) -> int:
    """The event time below which the next tuples of a source are late."""
    if state is None:
        return -FOREVER
    known = None if state.highest is None else state.highest - source.lateness
    bound = later_of(known, state.passed)
    return -FOREVER if bound is None else bound


def frontier_of(
    sources: Iterable[Source],
    streams: Mapping[str, StreamState],
    silent: frozenset[str] = frozenset(),
) -> int:
    """The least of the streams' bounds, not counting silent ones; unknown is −FOREVER."""
    bounds = [late_below(s, streams.get(s.name)) for s in sources if s.name not in silent]
    return min(bounds, default=-FOREVER)


def after_reading(
    streams: Mapping[str, StreamState], facts: Iterable[Mapping[str, Any]]
) -> dict[str, StreamState]:
    """How far the streams have come after what a batch has read."""
    after = dict(streams)
    for fact in facts:
        if fact["kind"] == "read":
            old = after.get(fact["source"], StreamState())
            after[fact["source"]] = StreamState(
                highest=later_of(old.highest, fact["highest"]),
                lowest=earlier_of(old.lowest, fact["lowest"]),
                passed=old.passed,
                rows=old.rows + fact["rows"],
                late=old.late + fact["late"],
                malformed=old.malformed + fact["malformed"],
                unreadable=old.unreadable + fact["unreadable"],
            )
    return after


def still_silent(silent: frozenset[str], facts: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """The silent sources without those that a batch did bring something of."""
    return silent - {fact["source"] for fact in facts if fact["kind"] == "read" and fact["rows"]}


def frontier_after(
    sources: Iterable[Source],
    streams: Mapping[str, StreamState],
    facts: Iterable[Mapping[str, Any]],
    silent: frozenset[str],
) -> int:
    """The event time that no source will go back behind after what a batch has read."""
    known = list(facts)
    return frontier_of(sources, after_reading(streams, known), still_silent(silent, known))


def earlier_of(one: int | None, other: int | None) -> int | None:
    """The earlier of two times, of which either may be unknown."""
    return min((time for time in (one, other) if time is not None), default=None)


def later_of(one: int | None, other: int | None) -> int | None:
    """The later of two times, of which either may be unknown."""
    return max((time for time in (one, other) if time is not None), default=None)
