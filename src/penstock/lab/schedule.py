"""Schedules: blocks of tuples that are joined together, and when windows are cleaned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.errors import PlanError

Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class Eager:
    """Join each tuple as it arrives."""


@dataclass(frozen=True)
class Lazy:
    """Join what has arrived every so many microseconds of event time (τ in G&O)."""

    every: int

    def __post_init__(self) -> None:
        if self.every < 1:
            raise PlanError(
                f"a query cannot be re-executed every {self.every} µs",
                hint="give a time above zero, or run it eagerly: after each tuple",
            )


Mode = Eager | Lazy


def block_bounds(mode: Mode, times: Int64s) -> Int64s:
    """The position at which each block starts, and the end of the last; `times` are in order."""
    if isinstance(mode, Eager):
        return np.arange(len(times) + 1)
    turns = times // mode.every
    changes = np.flatnonzero(turns[1:] != turns[:-1]) + 1
    return np.concatenate([[0], changes, [len(times)]]) if len(times) else np.zeros(1, np.int64)


def ready_times(mode: Mode, times: Int64s, bounds: Int64s) -> Int64s:
    """When each block can be joined: as its tuple arrives, or at the next re-execution."""
    first = times[bounds[:-1]]
    return first if isinstance(mode, Eager) else (first // mode.every + 1) * mode.every


def cleanings(expiration: int, times: Int64s, bounds: Int64s) -> NDArray[np.bool_]:
    """Before which blocks windows are cleaned: all, or the first in each interval."""
    if expiration < 0:
        raise PlanError(
            f"windows cannot be cleaned every {expiration} µs",
            hint="0 cleans them at every arrival or re-execution",
        )
    if expiration == 0:
        return np.ones(len(bounds) - 1, np.bool_)
    turns = times[bounds[:-1]] // expiration
    return np.append(True, turns[1:] != turns[:-1])[: len(turns)]
