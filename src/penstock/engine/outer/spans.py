"""Spans of ticks that the intervals of many places cover, or leave uncovered.

Intervals are sorted by place, then by their first tick; ticks are `every` apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class Spans:
    """Places, each with a first and a last tick; a place may have several of them, or none."""

    places: Int64s
    firsts: Int64s
    lasts: Int64s

    def chosen(self, wanted: NDArray[np.bool_] | NDArray[np.intp]) -> Spans:
        """Some of them, or all in another order."""
        return Spans(self.places[wanted], self.firsts[wanted], self.lasts[wanted])


def covered(intervals: Spans, every: int) -> Spans:
    """The disjoint spans that the intervals of each place cover together."""
    places, firsts = intervals.places, intervals.firsts
    if not len(places):
        return intervals
    reach = _reach(intervals)
    begins = np.ones(len(places), np.bool_)
    begins[1:] = (places[1:] != places[:-1]) | (firsts[1:] - every > reach[:-1])
    ends = np.append(begins[1:], True)
    return Spans(places[begins], firsts[begins], reach[ends])


def uncovered(intervals: Spans, whole: Spans, every: int) -> Spans:
    """What is left of the `whole` span of each place, of which place p has the p-th.

    The intervals lie inside of it.
    """
    spans = covered(intervals, every)
    places = np.concatenate([spans.places, whole.places])
    # Before each covered span, and after the last one, something may be left.
    begins = np.concatenate([whole.firsts, spans.lasts + every])
    ends = np.concatenate([spans.firsts - every, whole.lasts])
    starting = np.concatenate([whole.places, spans.places])
    begins = begins[np.lexsort((begins, starting))]
    order = np.lexsort((ends, places))
    left = Spans(places[order], begins, ends[order])
    return left.chosen(left.firsts <= left.lasts)


def _reach(intervals: Spans) -> Int64s:
    """The highest last tick of each interval and those before it at the same place."""
    lasts, ranks = np.unique(intervals.lasts, return_inverse=True)
    # Ranks of a place are above those of all places before it, so that one pass is enough.
    highest = np.maximum.accumulate(intervals.places * len(lasts) + ranks)
    reach: Int64s = lasts[highest % len(lasts)]
    return reach
