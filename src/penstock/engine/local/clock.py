"""Clocks: what the work of a join took, on this machine or by given costs."""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.query.window import MICROS

Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class Work:
    """How much was done of each kind, in the order in which the kernel counts.

    `tuples` arrived; of these, those that can join at all were inserted. A sweep is one look at one
    window for tuples to expire, a probe is one bucket looked up, a compare is one tuple looked at
    in a loop.
    """

    tuples: int
    inserts: int
    expired: int
    sweeps: int
    probes: int
    compares: int
    results: int


@dataclass(frozen=True)
class Costs:
    """Seconds for one piece of each kind of work."""

    tuples: float = 0.0
    inserts: float = 0.0
    expired: float = 0.0
    sweeps: float = 0.0
    probes: float = 0.0
    compares: float = 0.0
    results: float = 0.0


@dataclass(frozen=True)
class RealClock:
    """Work takes the time it takes; the input is taken as fast as it can be."""


@dataclass(frozen=True)
class SimulatedClock:
    """Work takes what the costs say, on one server that takes blocks in order; nothing sleeps."""

    costs: Costs


Clock = RealClock | SimulatedClock


def completions(ready: Int64s, ledger: Int64s, costs: Costs) -> Int64s:
    """When each block is done (µs): a server starts it once it is ready and the last one is done.

    `ledger` holds the counts of work after each block.
    """
    spent = ledger @ np.array(astuple(costs)) * MICROS
    before = np.concatenate([[0.0], spent[:-1]])
    done: Int64s = np.rint(spent + np.maximum.accumulate(ready - before)).astype(np.int64)
    return done


def total_cost(work: Work, costs: Costs) -> float:
    """Seconds that the work takes in all."""
    return float(np.array(astuple(work)) @ np.array(astuple(costs)))
