"""Reach: how many rows of a target are in reach of combinations by time, whatever their keys.

Of what a probe finds, this is the other side of its selectivity: rows found by rows in reach. It is
estimated from some rows of the target and some of the combinations, since exact counts would cost
as much as the probe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.engine.rows.columns import END, SEQUENCE, TS, UNTIL
from penstock.engine.rows.lifetimes import alive_since
from penstock.engine.state.store import Chunk, Thinned
from penstock.kernels.ranges import count_between
from penstock.query import Window

Int64s = NDArray[np.int64]

# Rows of a target, and combinations, that stand for all: so many tell the part in reach to a few
# per cent (`adapt/figures/readings.py` counts that), in some twenty microseconds.
_ROWS = 1 << 8
_COMBINATIONS = 1 << 8
_LEAST = 1 << 7
_BOUNDS = frozenset((TS, UNTIL, SEQUENCE, END))


@dataclass(frozen=True)
class Reach:
    """Some rows of a target, each of which stands for `weight`: sorted lists of their births and
    deaths, by time and, with ROWS windows, by number.

    Where they do not say when they die, that follows from their windows.
    """

    weight: float
    births: Int64s
    deaths: Int64s | None = None
    numbers: Int64s | None = None
    ends: Int64s | None = None

    @classmethod
    def of(cls, chunks: Sequence[Chunk], share: float, partitions: int) -> Reach:
        """The reach over the rows of some chunks, which are a share of all that partitions have.

        As every one of these tells of its own, few rows of each are enough.
        """
        total = sum(len(chunk.times) for chunk in chunks)
        if not total:
            return cls(0.0, np.empty(0, np.int64))
        most = max(_ROWS // partitions, _LEAST)
        thinned = [chunk.thinned for chunk in chunks]
        places = _picked(thinned, [len(chunk.times) for chunk in chunks], -(-total // most))
        births = _sorted(thinned, places, TS)
        return cls(
            total / share / len(births),
            births,
            *(
                _sorted(thinned, places, name) if name in thinned[0].bounds else None
                for name in (UNTIL, SEQUENCE, END)
            ),
        )

    def met(self, windows: tuple[Window | None, ...], control: Mapping[str, Int64s]) -> float:
        """How many combinations with rows of the target were possible by time and number."""
        size = len(control[TS])
        if not size or not len(self.births):
            return 0.0
        stride = -(-size // _COMBINATIONS)
        # Copies: for arrays with gaps, or that Arrow owns, the loop would be compiled once more.
        some = {
            name: np.array(values[::stride]) for name, values in control.items() if name in _BOUNDS
        }
        found = (
            self._by_time(windows, some) if self.numbers is None else self._by_number(windows, some)
        )
        return found * self.weight * size / len(some[TS])

    def _by_time(self, windows: tuple[Window | None, ...], some: Mapping[str, Int64s]) -> int:
        """Rows that are born before combinations die, less those dead before these are born."""
        if self.deaths is not None:
            return count_between(self.births, some[UNTIL], self.deaths, some[TS])
        earliest = alive_since_all(windows, some[TS])
        return count_between(self.births, some[UNTIL], self.births, earliest)

    def _by_number(self, windows: tuple[Window | None, ...], some: Mapping[str, Int64s]) -> int:
        """The same where numbers count too. Both orders are one: what is born by number is so by
        time, or the other way round."""
        assert self.numbers is not None, "the caller has looked"
        assert self.ends is not None, "what has a number has an end"
        dying = self.births if self.deaths is None else self.deaths
        since = alive_since_all(windows, some[TS]) if self.deaths is None else some[TS]
        born = np.searchsorted(self.births, some[UNTIL], side="right")
        born = np.minimum(born, np.searchsorted(self.numbers, some[END]))
        dead = np.searchsorted(dying, since)
        dead = np.maximum(dead, np.searchsorted(self.ends, some[SEQUENCE], side="right"))
        return int((born - dead).sum())


def alive_since_all(windows: tuple[Window | None, ...], times: Int64s) -> Int64s:
    """The earliest time of the last member of a combination that is alive at each of `times`."""
    earliest = alive_since(windows[0], times)
    for window in windows[1:]:
        earliest = np.maximum(earliest, alive_since(window, times))
    return earliest


def _picked(thinned: Sequence[Thinned], sizes: Sequence[int], stride: int) -> list[slice]:
    """Which of the rows of thinned chunks to take, so that all chunks are thinned alike: every
    `stride` rows of all together, or some more, as chunks are thinned by powers of two."""
    stride = max(1 << (stride - 1).bit_length(), *(each.stride for each in thinned))
    places, first = [], 0
    for each, size in zip(thinned, sizes, strict=True):
        start = -(-first // each.stride)
        places.append(slice(start, None, stride // each.stride))
        first = (start * each.stride - size) % stride
    return places


def _sorted(thinned: Sequence[Thinned], places: Sequence[slice], name: str) -> Int64s:
    """The chosen values of a column, of all chunks together."""
    some = [each.bounds[name][place] for each, place in zip(thinned, places, strict=True)]
    return np.sort(some[0] if len(some) == 1 else np.concatenate(some))
