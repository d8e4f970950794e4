"""Timing: when results were produced and how long the work took, on any clock."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.duration import MICROS
from penstock.lab.apparatus import Apparatus, blocks_of, total_work
from penstock.lab.charges import Screening
from penstock.lab.clock import (
    Clock,
    ClockCosts,
    RealClock,
    SimulatedClock,
    Work,
    completions,
    total_cost,
)
from penstock.lab.kernels.nested import BIRTH, Counts
from penstock.lab.servers import serve_each

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]
Checks = Sequence[Screening]


@dataclass(frozen=True)
class Timing:
    """When each result found was there (µs), and the rest as in an `Outcome`."""

    produced: Int64s
    work: Work
    busy: float
    elapsed: float
    utilization: float
    own: float = 0.0


def timing_of(
    apparatus: Apparatus,
    counts: Counts,
    clock: Clock,
    found: Int32s,
    checks: Checks,
    seconds: float,
) -> Timing:
    """The timing of a run that has taken so many seconds here and found these results, of which
    some had to be checked once more."""
    match clock:
        case RealClock():
            produced = apparatus.ready[_blocks(apparatus, found)]
            elapsed = max(_span(apparatus), seconds)
            return Timing(produced, total_work(counts), seconds, elapsed, _per(apparatus, seconds))
        case SimulatedClock(costs=costs, servers="shared"):
            return _shared(apparatus, counts, costs, found, checks)
        case SimulatedClock(costs=costs):
            return _each(apparatus, costs, checks)


def _shared(
    apparatus: Apparatus, counts: Counts, costs: ClockCosts, found: Int32s, checks: Checks
) -> Timing:
    blocks = _blocks(apparatus, found)
    own = counts.bill + np.cumsum(_screening(apparatus, blocks, checks))
    done = completions(apparatus.ready, counts.ledger, costs, own)
    spent = float(own[-1]) if len(own) else 0.0
    busy = total_cost(total_work(counts), costs) + spent
    elapsed = _since_start(apparatus, float(done[-1])) if len(done) else 0.0
    return Timing(
        done[blocks], total_work(counts), busy, elapsed, _per(apparatus, busy), max(0.0, spent)
    )


def _screening(apparatus: Apparatus, blocks: Int64s, checks: Checks) -> Floats:
    """The seconds of filters in each block, and of the checks of what it found."""
    total = np.zeros(len(apparatus.ready))
    for alias, screens in apparatus.screens.items():
        births = apparatus.lives[alias].births
        for screen in screens:
            here = blocks_of(apparatus, births[screen.rows])
            total += np.bincount(here, minlength=len(total)) * screen.seconds
    for check in checks:
        total += np.bincount(blocks[check.rows], minlength=len(total)) * check.seconds
    return total


def _each(apparatus: Apparatus, costs: ClockCosts, checks: Checks) -> Timing:
    services = serve_each(apparatus, costs, checks)
    return Timing(
        produced=np.rint(services.produced).astype(np.int64),
        work=services.work,
        busy=float(services.busy.sum()),
        elapsed=_since_start(apparatus, services.end),
        utilization=_per(apparatus, float(services.busy.max(initial=0.0))),
        own=max(0.0, services.own),
    )


def _blocks(apparatus: Apparatus, found: Int32s) -> Int64s:
    """The block that gave each result: that of its last member."""
    births = apparatus.windows.rows[found, BIRTH]
    return blocks_of(apparatus, births.max(axis=1, initial=-1))


def _span(apparatus: Apparatus) -> float:
    times = apparatus.times
    return float(times[-1] - times[0]) / MICROS if len(times) else 0.0


def _since_start(apparatus: Apparatus, end: float) -> float:
    return (end - float(apparatus.times[0])) / MICROS if len(apparatus.times) else 0.0


def _per(apparatus: Apparatus, busy: float) -> float:
    span = _span(apparatus)
    return busy / span if span else math.inf
