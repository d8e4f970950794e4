"""Reach: how many rows of a target are in reach of combinations by time, whatever their keys.

Of what a probe finds, this is the other side of its selectivity: rows found by rows in reach. It is
estimated from some rows of the target and some of the combinations, since exact counts would cost
as much as the probe.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from penstock.engine.rows.columns import END, SEQUENCE, TS, UNTIL
from penstock.engine.rows.lifetimes import alive_since
from penstock.engine.state.store import Chunk
from penstock.query import Window

Int64s = NDArray[np.int64]

# Rows of a target, and combinations, that stand for all. A thousand of each tell the part in reach
# to about one per cent, and take less than a tenth of a millisecond.
_ROWS = 1 << 10
_COMBINATIONS = 1 << 9


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
    def of(cls, chunks: Sequence[Chunk]) -> Reach:
        """The reach over the rows of some chunks."""
        total = sum(len(chunk.times) for chunk in chunks)
        if not total:
            return cls(0.0, np.empty(0, np.int64))
        stride = -(-total // _ROWS)
        births = _picked((chunk.times for chunk in chunks), stride)
        names = chunks[0].rows.schema.names
        others = {
            name: _picked((chunk.rows.column(name).to_numpy() for chunk in chunks), stride)
            for name in (UNTIL, SEQUENCE, END)
            if name in names
        }
        lists = (others.get(name) for name in (UNTIL, SEQUENCE, END))
        return cls(total / len(births), births, *lists)

    def scaled(self, factor: float) -> Reach:
        """The same where there are so many times the rows."""
        return replace(self, weight=self.weight * factor)

    def met(self, windows: tuple[Window | None, ...], control: Mapping[str, Int64s]) -> float:
        """How many combinations with rows of the target were possible by time and number."""
        size = len(control[TS])
        if not size or not len(self.births):
            return 0.0
        some = {name: values[:: -(-size // _COMBINATIONS)] for name, values in control.items()}
        born, dead = self._by_time(windows, some)
        if self.numbers is not None and SEQUENCE in some:
            assert self.ends is not None, "what has a number has an end"
            # Both orders are one: what is born by number is so by time, or the other way round.
            born = np.minimum(born, np.searchsorted(self.numbers, some[END]))
            dead = np.maximum(dead, np.searchsorted(self.ends, some[SEQUENCE], side="right"))
        return float((born - dead).sum()) * self.weight * size / len(some[TS])

    def _by_time(
        self, windows: tuple[Window | None, ...], some: Mapping[str, Int64s]
    ) -> tuple[Int64s, Int64s]:
        """How many of the rows are born before combinations die, and dead before these are born."""
        born = np.searchsorted(self.births, some[UNTIL], side="right")
        if self.deaths is not None:
            return born, np.searchsorted(self.deaths, some[TS])
        return born, np.searchsorted(self.births, alive_since_all(windows, some[TS]))


def alive_since_all(windows: tuple[Window | None, ...], times: Int64s) -> Int64s:
    """The earliest time of the last member of a combination that is alive at each of `times`."""
    earliest = alive_since(windows[0], times)
    for window in windows[1:]:
        earliest = np.maximum(earliest, alive_since(window, times))
    return earliest


def _picked(columns: Iterator[Int64s], stride: int) -> Int64s:
    """Every so many values of all columns together, sorted."""
    some = []
    first = 0
    for values in columns:
        some.append(values[first::stride])
        first = (first - len(values)) % stride
    return np.sort(np.concatenate(some))
