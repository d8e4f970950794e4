"""Lifetimes of tuples, as bounds on event time (microseconds)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from penstock.query import TimeWindow, Window

Times = NDArray[np.int64]

FOREVER = 1 << 62
"""Later than any event time, and far enough from the largest integer to be added to one."""


def alive_since(window: Window | None, times: Times) -> Times:
    """The earliest event time that a tuple alive at each of `times` can have."""
    if not isinstance(window, TimeWindow) or window.extent is None:
        return np.full(len(times), -FOREVER)
    if window.slide == 1:
        return times - window.extent
    return times // window.slide * window.slide - window.extent


def alive_until(window: Window | None, times: Times) -> Times:
    """The latest time at which a tuple born at each of `times` is still alive."""
    if not isinstance(window, TimeWindow) or window.extent is None:
        return np.full(len(times), FOREVER)
    if window.slide == 1:
        return times + window.extent
    return (times + window.extent) // window.slide * window.slide + window.slide - 1


def oldest_alive(window: Window | None, now: int) -> int:
    """The event time below which every tuple is dead at `now` and later."""
    if now <= -FOREVER:
        return -FOREVER
    return int(alive_since(window, np.array([now]))[0])
