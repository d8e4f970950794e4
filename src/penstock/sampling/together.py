"""Tuples of several samples from the same time: only these are compared, for keys may drift.

Samples are strips; what all streams have of the time of one strip is an episode. Tuples of
different episodes do not meet, as tuples that are far apart in time do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.rows.columns import TS
from penstock.query import Query
from penstock.sampling.sample import Sample, Span

Int64s = NDArray[np.int64]

# Fewer tuples of a stream than this say little of its keys.
_FEW = 1_000


@dataclass(frozen=True)
class Episodes:
    """Stretches of time by their first and last microsecond, in order; none: all of the time."""

    spans: tuple[tuple[int, int], ...] = ()

    @property
    def count(self) -> int:
        return max(1, len(self.spans))

    def inside(self, times: Int64s) -> NDArray[np.bool_]:
        """Which times are in an episode."""
        found = np.zeros(len(times), np.bool_)
        for first, last in self.spans:
            found |= (times >= first) & (times <= last)
        return found if self.spans else ~found

    def nearest(self, rows: pa.Table) -> Int64s | None:
        """The number of the episode that each tuple is in or next to; None for tables."""
        if TS not in rows.column_names:
            return None
        middles = [(a[1] + b[0]) // 2 for a, b in zip(self.spans, self.spans[1:], strict=False)]
        places = np.searchsorted(np.array(middles, np.int64), rows.column(TS).to_numpy())
        return np.asarray(places, np.int64)


ALL_TIME = Episodes()


@dataclass(frozen=True)
class Together:
    """Tuples of each input that are from the same time as others', and the episodes of these."""

    rows: Mapping[str, pa.Table]
    episodes: Episodes = field(default=ALL_TIME)


def together(
    query: Query, samples: Mapping[str, Sample], passing: Mapping[str, pa.Table]
) -> Together:
    """The tuples from the time that all samples cover; where that leaves too little of a stream,
    all tuples count, whenever they came."""
    streams = {item.alias for item in query.streams} & set(passing)
    times = {alias: passing[alias].column(TS).to_numpy() for alias in streams}
    if not streams or any(not len(each) for each in times.values()):
        return Together(dict(passing))
    spans = [samples[query.input(alias).source.name].spans for alias in sorted(streams)]
    episodes = _episodes(spans)
    inside = {alias: episodes.inside(each) for alias, each in times.items()}
    if not episodes.spans or any(each.sum() < min(_FEW, len(each)) for each in inside.values()):
        return Together(dict(passing))
    kept = {alias: passing[alias].filter(pa.array(each)) for alias, each in inside.items()}
    return Together({**passing, **kept}, episodes)


def _episodes(spans: list[tuple[Span, ...]]) -> Episodes:
    """The times that all streams have a strip of: of some streams the first strip with the first of
    others, and so on, and of those that were read whole all of the time."""
    strips = max(map(len, spans))
    found: list[tuple[int, int]] = []
    for strip in range(strips):
        mine = [own[strip] if len(own) == strips else _all_of(own) for own in spans]
        first, last = max(each.first for each in mine), min(each.last for each in mine)
        if first <= last and (not found or first > found[-1][1]):
            found.append((first, last))
    return Episodes(tuple(found))


def _all_of(spans: tuple[Span, ...]) -> Span:
    first, last = min(each.first for each in spans), max(each.last for each in spans)
    return Span(first, last, sum(each.count for each in spans))
