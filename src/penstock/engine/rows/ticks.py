"""Ticks: the event times at which a view is evaluated, and who is seen at which of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.engine.rows.lifetimes import FOREVER
from penstock.query import Query

Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class Ticks:
    """The multiples of `every`, microseconds; the tick t sees the windows at the time t − `lag`."""

    every: int
    lag: int

    @classmethod
    def of(cls, query: Query) -> Ticks | None:
        """The ticks of a query's view, if it has one."""
        return None if query.view is None else cls(query.view.every, int(query.is_tumbling))

    def first(self, times: Int64s) -> Int64s:
        """The first tick that sees each time."""
        return -(-(times + self.lag) // self.every) * self.every

    def last(self, times: Int64s) -> Int64s:
        """The last tick that sees no more than each time; there is none after what is for ever."""
        ticks = (times + self.lag) // self.every * self.every
        return np.where(times >= FOREVER, FOREVER, ticks)

    def born(self, ticks: Int64s) -> Int64s:
        """The latest times whose first ticks these are."""
        return ticks - self.lag

    def dies(self, ticks: Int64s) -> Int64s:
        """The earliest times whose last ticks these are."""
        return np.where(ticks >= FOREVER, FOREVER, ticks - self.lag)

    def next_after(self, frontier: int) -> int:
        """The first tick that is not evaluated yet when the frontier is here.

        It sees the frontier itself, where tuples may still come.
        """
        return int(self.first(np.array([frontier]))[0])
