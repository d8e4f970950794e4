"""Derived streams: in which order queries run that read each other, and how far each has come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.engine.rows.lifetimes import FOREVER
from penstock.engine.rows.ticks import Ticks
from penstock.engine.state.frontier import Reading, frontier_of
from penstock.engine.state.manifest import Manifest
from penstock.query import Query
from penstock.query.script import Member, Script
from penstock.query.source import Source


def levels_of(script: Script) -> list[list[Member]]:
    """The queries in levels: each reads those of levels before its own, so that all of a level can
    run together."""
    depths: dict[str, int] = {}
    for member in script.members:
        depths[member.name] = 1 + max((depths[name] for name in member.reads), default=-1)
    found: list[list[Member]] = [[] for _ in range(1 + max(depths.values()))]
    for member in script.members:
        found[depths[member.name]].append(member)
    return found


def come_to(query: Query, made: Manifest) -> int | None:
    """The event time that a query's results do not go back behind after a batch; None before all
    its streams have come.

    A combination that is yet to be found has a tuple in it that is yet to come; a view changes next
    at the first tick that is not evaluated.
    """
    frontier = frontier_of(query.stream_sources.values(), made.streams)
    if frontier <= -FOREVER:
        return None
    ticks = Ticks.of(query)
    return frontier if ticks is None else ticks.next_after(frontier)


def derived_sources(query: Query) -> dict[str, Source]:
    """The sources of a query that are results of others, by name."""
    return {name: source for name, source in query.sources.items() if source.makers}


def heard_of(query: Query, times: Mapping[str, int | None]) -> tuple[Reading, ...]:
    """What is known of derived streams before their rows of a batch are read: how far the queries
    that make them have come, whether or not there are any."""
    return tuple(
        Reading(
            source=name,
            rows=0,
            late=0,
            malformed=0,
            unreadable=0,
            highest=_least(times[maker] for maker in source.makers),
            lowest=None,
        )
        for name, source in derived_sources(query).items()
    )


def _least(times: Iterable[int | None]) -> int | None:
    known = list(times)
    return None if None in known else min(time for time in known if time is not None)
