"""Tick span: the ticks of a view that a batch evaluates, which follows from what it has read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from penstock.engine.rows.lifetimes import FOREVER
from penstock.engine.rows.ticks import Ticks
from penstock.engine.state.frontier import Reading, after_reading, frontier_after
from penstock.engine.state.manifest import StreamState
from penstock.query.source import Source


@dataclass(frozen=True)
class TickSpan:
    """The ticks to evaluate, `first` to `last`; the total is there from the tick `begin` on."""

    first: int
    last: int
    every: int
    begin: int

    @property
    def is_empty(self) -> bool:
        """Whether no tick is due."""
        return self.first > self.last

    @property
    def after(self) -> int:
        """The first tick that is still to come after them."""
        return max(self.first, self.last + self.every)


@dataclass(frozen=True)
class DueTicks:
    """The ticks that may be due, but for what is read: `open_tick` is the first of them.

    `streams`, `silent` and `drains` are as in the sequencer.
    """

    ticks: Ticks
    sources: tuple[Source, ...]
    streams: Mapping[str, StreamState]
    silent: frozenset[str] = frozenset()
    drains: bool = False
    open_tick: int = -FOREVER

    def span(self, readings: Sequence[Reading]) -> TickSpan:
        """The ticks that the frontier passes by what was read."""
        first, every = self.open_tick, self.ticks.every
        after = after_reading(self.streams, readings)
        lowest = [after[s.name].lowest for s in self.sources if s.name in after]
        known = [time for time in lowest if time is not None]
        begin = self.ticks.next_after(min(known)) if known else FOREVER
        if self.drains:
            return TickSpan(first, FOREVER if known else first - every, every, begin)
        frontier = frontier_after(self.sources, self.streams, readings, self.silent)
        return TickSpan(first, self.ticks.next_after(frontier) - every, every, begin)
