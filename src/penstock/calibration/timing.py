"""How many seconds of a core a plan takes, tuple by tuple."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from penstock.lab.apparatus import execute, no_counts, set_up, total_work
from penstock.lab.schedule import Eager
from penstock.plan.plan import Plan


@dataclass(frozen=True)
class Timed:
    """CPU-seconds of a run, and its results."""

    seconds: float
    results: int


def timed(plan: Plan, tuples: Mapping[str, pa.Table]) -> Timed:
    """One run in the laboratory. CPU time: what other processes take is not the plan's."""
    apparatus = set_up(plan, tuples, Eager(), expiration=0, buckets={})
    counts = no_counts(apparatus, with_ledger=False)
    started = time.thread_time()
    execute(apparatus, counts)
    return Timed(time.thread_time() - started, total_work(counts).results)


def least(plan: Plan, tuples: Mapping[str, pa.Table], times: int) -> float:
    """CPU-seconds of the fastest of some runs: disturbances only ever add."""
    return min(timed(plan, tuples).seconds for _ in range(times))
