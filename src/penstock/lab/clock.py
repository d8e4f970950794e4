"""Clocks: what the work of a join took, on this machine or by given costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from penstock.duration import MICROS

Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Work:
    """How much was done of each kind, in the order in which the kernel counts.

    `tuples` arrived; of these, those that can join at all were inserted, and so were the inner rows
    of a tree. A sweep is one look at one window for rows to expire, or at one of its buckets where
    windows are cleaned by bucket; a probe is one bucket looked up, a compare is one row looked at
    in a loop. Everything that comes to a join of a tree is inserted there once: the costs of moving
    it and of hashing it go with inserts and probes.
    """

    tuples: int
    inserts: int
    expired: int
    sweeps: int
    probes: int
    compares: int
    results: int


@dataclass(frozen=True)
class ClockCosts:
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


Servers = Literal["shared", "each"]


@dataclass(frozen=True)
class OwnCosts:
    """Seconds that predicates take by themselves, beyond the work that is counted.

    `equalities` are for each row that comes to the join where these inputs come together (V&N:
    handling cost), `conditions` (filters and other predicates, by their text) for one evaluation.
    """

    equalities: Mapping[frozenset[str], float] = field(default_factory=dict)
    conditions: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class WindowCharge:
    """Seconds at the window of one input beyond what the costs say, or short of it (A&N Eq. 7, 8):
    for each of its tuples, and for each probe of it by key."""

    settle: float = 0.0
    probe: float = 0.0


NOTHING = OwnCosts()


@dataclass(frozen=True)
class JoinCosts:
    """Seconds for a piece of work at one join, instead of what all have; None where it has that."""

    inserts: float | None = None
    expired: float | None = None
    probes: float | None = None
    compares: float | None = None


@dataclass(frozen=True)
class SimulatedClock:
    """Work takes what the costs say; nothing sleeps.

    One `shared` server takes blocks in order, with all the work that they cause (A&N); or `each`
    join of a tree has its own, and takes rows in the order in which they come to it (V&N).
    """

    costs: ClockCosts
    servers: Servers = "shared"

    own: OwnCosts = NOTHING
    """What filters, predicates and functions take by themselves."""

    joins: Mapping[frozenset[str], JoinCosts] = field(default_factory=dict)
    """Other costs of single joins of a tree, by the inputs below them."""

    windows: Mapping[str, WindowCharge] = field(default_factory=dict)
    """Other costs of single inputs' windows."""


Clock = RealClock | SimulatedClock


def completions(ready: Int64s, ledger: Int64s, costs: ClockCosts, more: Floats) -> Int64s:
    """When each block is done (µs) by one server; `ledger` holds the counts after each block, and
    `more` the seconds that take something beyond them."""
    spent = ledger @ np.array(astuple(costs)) + more
    done: Int64s = np.rint(served(ready, spent)).astype(np.int64)
    return done


def served(ready: Int64s | Floats, spent: Floats) -> Floats:
    """When each piece of work is done (µs): it starts once it is ready and the last one is done.

    `spent` is the seconds that all pieces up to each one take.
    """
    micros = spent * MICROS
    before = np.concatenate([[0.0], micros[:-1]])
    done: Floats = micros + np.maximum.accumulate(ready - before)
    return done


def total_cost(work: Work, costs: ClockCosts) -> float:
    """Seconds that the work takes in all."""
    return float(np.array(astuple(work)) @ np.array(astuple(costs)))
