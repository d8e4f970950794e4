"""Keys of a column: ranges of whole numbers, each with its part of the tuples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Range:
    """`share` of the tuples have a number from `first` to below `end`, all equally often."""

    first: int
    end: int
    share: float = 1.0

    def density(self, first: int, end: int) -> float:
        """How likely a tuple has one given number between two, both in the range or neither."""
        is_inside = self.first <= first and end <= self.end
        return self.share / (self.end - self.first) if is_inside else 0.0


@dataclass(frozen=True)
class Keys:
    """The numbers of a column; the shares of the ranges add up to 1."""

    ranges: tuple[Range, ...]

    def draw(self, rng: np.random.Generator, count: int) -> NDArray[np.int64]:
        """So many numbers."""
        which = rng.choice(len(self.ranges), count, p=[each.share for each in self.ranges])
        first = np.array([each.first for each in self.ranges])[which]
        size = np.array([each.end - each.first for each in self.ranges])[which]
        drawn: NDArray[np.int64] = first + (rng.random(count) * size).astype(np.int64)
        return drawn


def uniform(count: int) -> Keys:
    """Numbers below `count`."""
    return Keys((Range(0, count),))


def equal_fraction(columns: Sequence[Keys]) -> float:
    """The fraction of combinations, a tuple of each column, that have one number in common."""
    ranges = [each for keys in columns for each in keys.ranges]
    ends = sorted({each.first for each in ranges} | {each.end for each in ranges})
    return sum(
        (end - first)
        * prod(sum(each.density(first, end) for each in keys.ranges) for keys in columns)
        for first, end in pairwise(ends)
    )
