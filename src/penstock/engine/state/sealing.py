"""Sealing: which lives have ended for good, so that no partner of an outer join can come any more.

Times are microseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from penstock.engine.rows.lifetimes import FOREVER
from penstock.engine.state.frontier import Reading, frontier_of, late_below, streams_after
from penstock.engine.state.manifest import StreamState
from penstock.query import Query

ALL = "*"
"""Stands for all streams of a query together; no input has such a name."""

OVER = FOREVER + 1
"""Above the last moment of every life, also of one without end."""


@dataclass(frozen=True)
class Seal:
    """How far the nullable input has come: what ends below `before` was told in earlier batches,
    what ends below `after` is told by this one."""

    before: int
    after: int


@dataclass(frozen=True)
class Sealing:
    """How far streams were before a batch; `silent` and `drains` are as in the sequencer.

    What a batch reads decides how far they are after it, by the very rule of its manifest: `after`
    of one batch is `before` of the next.
    """

    query: Query
    streams: Mapping[str, StreamState]
    silent: frozenset[str] = frozenset()
    drains: bool = False

    def seals(self, readings: Sequence[Reading]) -> dict[str, Seal]:
        """The seals by nullable input, after what was read; that of a table has always come. That
        of all streams together goes by the frontier of the query."""
        outer = self.query.outer
        if outer is None:
            return {}
        after = streams_after(self.query, self.streams, readings, self.silent)
        sources = self.query.stream_sources.values()
        passed = OVER if self.drains else frontier_of(sources, after)
        found = {alias: self._seal(alias, after) for alias in sorted(outer.nullables)}
        return found | {ALL: Seal(frontier_of(sources, self.streams), passed)}

    def _seal(self, alias: str, after: Mapping[str, StreamState]) -> Seal:
        item = self.query.input(alias)
        if item.is_table:
            return Seal(OVER, OVER)
        before = late_below(item.source, self.streams.get(item.source.name))
        passed = late_below(item.source, after.get(item.source.name))
        return Seal(before, OVER if self.drains else passed)
