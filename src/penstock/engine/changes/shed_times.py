"""Shed times: of which event times tuples were shed, and at which ticks a view lacks them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.engine.rows.layout import Layout
from penstock.engine.rows.lifetimes import alive_until
from penstock.engine.state.tick_span import TickSpan
from penstock.engine.wire.facts import Fact, ShedTimes, of_kind

Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]

Spans = Mapping[str, tuple[int, int]]
"""The least and the greatest event time of what came to an input while it was shed, by alias."""


def widened(spans: Spans, facts: Iterable[Fact]) -> dict[str, tuple[int, int]]:
    """Spans that also hold what tasks tell."""
    found = dict(spans)
    for fact in of_kind(facts, ShedTimes):
        first, last = found.get(fact.alias, (fact.first, fact.last))
        found[fact.alias] = (min(first, fact.first), max(last, fact.last))
    return found


def still_seen(layout: Layout, spans: Spans, open_tick: int) -> dict[str, tuple[int, int]]:
    """The spans of which something would be seen at the tick `open_tick` or later."""
    return {a: times for a, times in spans.items() if _seen(layout, a, times)[1] >= open_tick}


@dataclass(frozen=True)
class Doubt:
    """The ticks at which a window has lost tuples, as pairs of the first and the last."""

    ticks: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, layout: Layout, spans: Spans) -> Doubt:
        """Where those inputs lack tuples by whose weights others are estimated."""
        sampled = sorted(layout.sampled & spans.keys())
        return cls(tuple(_seen(layout, alias, spans[alias]) for alias in sampled))

    def at(self, ticks: Int64s) -> Bools:
        """Whether there is doubt at each tick."""
        found = np.zeros(len(ticks), np.bool_)
        for first, last in self.ticks:
            found |= (ticks >= first) & (ticks <= last)
        return found

    def edges(self, span: TickSpan) -> Int64s:
        """The ticks of a span at which doubt begins, or is over."""
        bounds = [tick for first, last in self.ticks for tick in (first, last + span.every)]
        return np.array(sorted({b for b in bounds if span.first <= b <= span.last}), np.int64)


def _seen(layout: Layout, alias: str, times: tuple[int, int]) -> tuple[int, int]:
    """The first and the last tick at which tuples of these times are seen."""
    ticks = layout.ticks
    assert ticks is not None, "only views have ticks"
    first, last = (np.array([time]) for time in times)
    dead = alive_until(layout.query.input(alias).window, last)
    return int(ticks.first(first)[0]), int(ticks.last(dead)[0])
