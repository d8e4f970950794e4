"""The frontier: the event time behind which no stream will go back. Times are microseconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from penstock.engine.rows.lifetimes import FOREVER
from penstock.engine.state.manifest import StreamState
from penstock.query.source import Source


@dataclass(frozen=True)
class Reading:
    """Rows of a source that a task has read, in numbers. Times are event time, microseconds.

    `rows` are the sound ones, of which some were `late`; `highest` is the last of the others'
    times, `lowest` the first of those that were not shed, None if there are none.
    """

    source: str
    rows: int
    late: int
    malformed: int
    unreadable: int
    highest: int | None
    lowest: int | None


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
    streams: Mapping[str, StreamState], readings: Iterable[Reading]
) -> dict[str, StreamState]:
    """How far the streams have come after what a batch has read."""
    after = dict(streams)
    for reading in readings:
        old = after.get(reading.source, StreamState())
        after[reading.source] = StreamState(
            highest=later_of(old.highest, reading.highest),
            lowest=earlier_of(old.lowest, reading.lowest),
            passed=old.passed,
            rows=old.rows + reading.rows,
            late=old.late + reading.late,
            malformed=old.malformed + reading.malformed,
            unreadable=old.unreadable + reading.unreadable,
        )
    return after


def still_silent(silent: frozenset[str], readings: Iterable[Reading]) -> frozenset[str]:
    """The silent sources without those that a batch did bring something of."""
    return silent - {reading.source for reading in readings if reading.rows}


def frontier_after(
    sources: Iterable[Source],
    streams: Mapping[str, StreamState],
    readings: Sequence[Reading],
    silent: frozenset[str],
) -> int:
    """The event time that no source will go back behind after what a batch has read."""
    return frontier_of(sources, after_reading(streams, readings), still_silent(silent, readings))


def earlier_of(one: int | None, other: int | None) -> int | None:
    """The earlier of two times, of which either may be unknown."""
    return min((time for time in (one, other) if time is not None), default=None)


def later_of(one: int | None, other: int | None) -> int | None:
    """The later of two times, of which either may be unknown."""
    return max((time for time in (one, other) if time is not None), default=None)
