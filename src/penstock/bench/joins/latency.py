"""How long a small micro-batch takes on Spark, when windows are full and everything is warm."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

import numpy as np

from penstock.bench.contest import Contest, run_apart
from penstock.bench.data import ensure_data
from penstock.bench.measurement import BatchTime
from penstock.bench.workload import CHAIN3, JOIN3, Workload
from penstock.duration import MICROS
from penstock.errors import PenstockError

# Half a second of the workloads: 10,000 tuples of each stream.
STEP = MICROS // 2


class LatencyFigures(TypedDict):
    """Seconds of the batches of a workload: medians and 90th percentiles."""

    batch_tuples: int
    batches: int
    warm_up_batches: int
    inside_median_s: float
    inside_p90_s: float
    trigger_median_s: float
    trigger_p90_s: float


def latency_benchmark(
    seconds: int,
    data: Path,
    progress: Callable[[str], None],
    workloads: Iterable[Workload] = (JOIN3, CHAIN3),
) -> dict[str, LatencyFigures]:
    """Times of the batches after the first window, by workload."""
    made = {}
    for workload in workloads:
        small = replace(workload, step=STEP, seconds=seconds)
        if small.seconds <= small.window:
            what = f"{small.seconds} s of data do not fill the windows of {small.window} s"
            raise PenstockError(what, hint="give more --seconds")
        progress(f"{small.name}: {small.files} batches of {3 * small.tuples_per_file:,} tuples")
        measured = run_apart(Contest("penstock", small, ensure_data(small, data), {}))
        warm_up = small.window * MICROS // STEP
        made[small.name] = times(measured.batches[warm_up:], warm_up)
    return made


def times(batches: tuple[BatchTime, ...], warm_up: int) -> LatencyFigures:
    """Median and 90th percentile, in seconds, inside `foreachBatch` and of `triggerExecution`."""
    inside = [batch.inside for batch in batches if batch.inside is not None]
    trigger = [batch.trigger for batch in batches]
    return {
        "batch_tuples": batches[0].tuples,
        "batches": len(batches),
        "warm_up_batches": warm_up,
        "inside_median_s": _percentile(inside, 50),
        "inside_p90_s": _percentile(inside, 90),
        "trigger_median_s": _percentile(trigger, 50),
        "trigger_p90_s": _percentile(trigger, 90),
    }


def _percentile(values: list[float], percent: int) -> float:
    return round(float(np.percentile(values, percent)), 3)
