"""Expiry: from which event time on state is needed, and which chunks a batch leaves."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from penstock.engine.routes.multiway_routes import Inner
from penstock.engine.rows.lifetimes import FOREVER, oldest_alive
from penstock.engine.state.frontier import frontier_of
from penstock.engine.state.manifest import StreamState
from penstock.engine.state.modules import Module, Modules
from penstock.engine.state.store import ChunkInfo
from penstock.engine.wire.facts import Fact, KeptChunk, of_kind
from penstock.query import Query

Streams = Mapping[str, StreamState]


def floors_of(query: Query, inners: Iterable[Inner], streams: Streams) -> dict[str, int]:
    """The event time below which tuples are dead for all to come, by input and inner join."""
    members: dict[str, tuple[str, ...]] = {item.alias: (item.alias,) for item in query.inputs}
    members |= {inner.name: inner.members for inner in inners}
    return {name: _floor(query, mine, streams) for name, mine in members.items()}


def _floor(query: Query, members: Collection[str], streams: Streams) -> int:
    """The last member's time of the oldest combination that others to come can meet alive."""
    coming = coming_to(query, members, streams)
    if coming >= FOREVER:
        return FOREVER
    floor = max(oldest_alive(query.input(alias).window, coming) for alias in members)
    return min(floor, _partners_since(query, members, streams))


def _partners_since(query: Query, members: Collection[str], streams: Streams) -> int:
    """The time since which a nullable input is kept, so that whoever asks for partners at the end
    of its life finds them; a view asks at its ticks, whose windows are whole."""
    outer = query.outer
    if outer is None or query.view is not None or len(members) > 1:
        return FOREVER
    (alias,) = members
    item = query.input(alias)
    asking = [side.preserved for side in outer.sides if side.nullable == alias]
    if item.is_table or not asking:
        return FOREVER
    # All members of what has not been told yet are alive where the nullable input is now; where
    # several joins are asked together, those that are in all results are where all streams are.
    now = frontier_of([item.source], streams)
    if query.asks_jointly:
        now, asking = frontier_of(query.stream_sources.values(), streams), [outer.core]
    lives = (max(oldest_alive(query.input(a).window, now) for a in side) for side in asking)
    return min(oldest_alive(item.window, born) for born in lives)


def coming_to(query: Query, members: Collection[str], streams: Streams) -> int:
    """The event time before which nothing comes any more that could meet a combination; FOREVER if
    there is no stream that does."""
    others = [item.source for item in query.streams if item.alias not in members]
    if query.asks_jointly and len(members) == 1:
        others = list(query.stream_sources.values())
    if not others and not (len(members) == 1 and _is_evaluated_anew(query)):
        return FOREVER
    # Tuples that wait for the frontier may be older than what their stream sends next, and a view's
    # next tick may be before that: whichever plan evaluates it has its windows whole.
    is_behind = query.is_sequenced or query.view is not None
    waiting = query.stream_sources.values() if is_behind else ()
    return frontier_of([*others, *waiting], streams)


def _is_evaluated_anew(query: Query) -> bool:
    """Whether a view is made from all that is in its windows: at each tick, as those over several
    outer joins are, or again because a table has changed."""
    if query.view is None:
        return False
    is_joint = query.outer is not None and not query.outer.is_single
    return is_joint or any(source.refresh is not None for source in query.sources.values())


def modules_after(
    before: Modules, facts: Iterable[Fact], floors: Mapping[str, int]
) -> dict[Module, dict[int, tuple[ChunkInfo, ...]]]:
    """The state after a batch: with its new chunks, without those replaced or expired."""
    modules = {module: dict(partitions) for module, partitions in before.items()}
    for fact in of_kind(facts, KeptChunk):
        partitions = modules.setdefault(fact.module, {})
        kept: Iterable[ChunkInfo] = partitions.get(fact.pid, ())
        if fact.replaces:
            replaced = set(fact.replaces)
            kept = [c for c in kept if c.name not in replaced]
        new = () if fact.chunk is None else (fact.chunk,)
        partitions[fact.pid] = (*kept, *new)
    return {module: _all_alive(p, _floor_of(module, floors)) for module, p in modules.items()}


def _floor_of(module: Module, floors: Mapping[str, int]) -> int:
    """The floor of a state module; what waits or is in a ROWS window does not expire by time."""
    place = module.place
    return -FOREVER if place is None else floors.get(place[0], -FOREVER)


def _all_alive(
    partitions: dict[int, tuple[ChunkInfo, ...]], floor: int
) -> dict[int, tuple[ChunkInfo, ...]]:
    if floor <= -FOREVER:
        return partitions
    return {pid: _alive(chunks, floor) for pid, chunks in partitions.items()}


def _alive(chunks: tuple[ChunkInfo, ...], floor: int) -> tuple[ChunkInfo, ...]:
    """The chunks that have not expired: the same object, if none has."""
    for chunk in chunks:
        if chunk.last_ts < floor:
            return tuple([chunk for chunk in chunks if chunk.last_ts >= floor])
    return chunks
