"""The frontier: the event time behind which no stream will go back. Times are microseconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from penstock.engine.rows.lifetimes import FOREVER
from penstock.engine.state.manifest import StreamState
from penstock.query import Query
from penstock.query.source import Source


@dataclass(frozen=True)
class Reading:
    """Rows of a source that a task has read, in numbers. Times are event time, microseconds.

    `rows` are the sound ones, of which some were `late`; `highest` is the last of the others'
    times, `lowest` the first of those that were not shed, None if there are none. `part` is the
    partition of the source that they are from, if it has such.
    """

    source: str
    rows: int
    late: int
    malformed: int
    unreadable: int
    highest: int | None
    lowest: int | None
    part: str | None = None


def read_together(one: Reading, other: Reading) -> Reading:
    """Two readings of the same source, and of the same partition of it, as one."""
    return replace(
        one,
        rows=one.rows + other.rows,
        late=one.late + other.late,
        malformed=one.malformed + other.malformed,
        unreadable=one.unreadable + other.unreadable,
        highest=later_of(one.highest, other.highest),
        lowest=earlier_of(one.lowest, other.lowest),
    )


def part_name(source: str, part: str) -> str:
    """A partition of a source, as messages and decisions name it: `bids[3]`."""
    return f"{source}[{part}]"


def late_below(
    source: Source, state: StreamState | None, silent: frozenset[str] = frozenset()
) -> int:
    """The event time below which the next tuples of a source are late, if `silent` partitions are
    not waited for."""
    if state is None:
        return -FOREVER
    reached = _reached(source.name, state, silent)
    known = None if reached is None else reached - source.lateness
    bound = later_of(known, state.passed)
    return -FOREVER if bound is None else bound


def _reached(name: str, state: StreamState, silent: frozenset[str]) -> int | None:
    """The event time that a source has come to: of its partitions the least counts, so that one
    that lags does not make its tuples late."""
    if not state.parts:
        return state.highest
    heard = [time for part, time in state.parts.items() if part_name(name, part) not in silent]
    return min(heard, default=state.highest)


def frontier_of(
    sources: Iterable[Source],
    streams: Mapping[str, StreamState],
    silent: frozenset[str] = frozenset(),
) -> int:
    """The least of the streams' bounds, not counting silent ones; unknown is −FOREVER.

    Where all are silent, none waits for another: they have come as far as the one that is furthest.
    """
    bounds = {s.name: late_below(s, streams.get(s.name), silent) for s in sources}
    heard = [bound for name, bound in bounds.items() if name not in silent]
    return min(heard) if heard else max(bounds.values(), default=-FOREVER)


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
            parts=_parts_after(old.parts, reading),
        )
    return after


def _parts_after(parts: Mapping[str, int], reading: Reading) -> Mapping[str, int]:
    """How far the partitions of a source have come."""
    if reading.part is None or reading.highest is None:
        return parts
    return {**parts, reading.part: max(parts.get(reading.part, -FOREVER), reading.highest)}


def settled(source: Source, state: StreamState) -> StreamState:
    """The state of a source after a batch: what is late by now stays so, whichever partition comes
    next."""
    if not state.parts:
        return state
    return replace(state, passed=later_of(state.passed, late_below(source, state)))


def streams_after(
    query: Query,
    streams: Mapping[str, StreamState],
    readings: Sequence[Reading],
    silent: frozenset[str],
) -> dict[str, StreamState]:
    """How far the streams have come after what a batch has read; silent ones are passed."""
    after = after_reading(streams, readings)
    silent = still_silent(silent, readings)
    frontier = frontier_of(query.stream_sources.values(), after, silent)
    for name in silent if frontier > -FOREVER else ():
        source = name.partition("[")[0] if name not in query.sources else name
        old = after.get(source, StreamState())
        after[source] = replace(old, passed=later_of(old.passed, frontier))
    return {name: settled(query.sources[name], state) for name, state in after.items()}


def still_silent(silent: frozenset[str], readings: Iterable[Reading]) -> frozenset[str]:
    """The silent sources and partitions without those that a batch did bring something of."""
    return silent - {name for reading in readings for name in names_of(reading)}


def names_of(reading: Reading) -> tuple[str, ...]:
    """The source and the partition that something came of, if it did."""
    if not reading.rows:
        return ()
    part = () if reading.part is None else (part_name(reading.source, reading.part),)
    return (reading.source, *part)


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
