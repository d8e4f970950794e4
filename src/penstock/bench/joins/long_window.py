"""The cost of a long window that came in many small batches, beside the same in ten chunks."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict

from penstock.api import sql
from penstock.bench.data import ensure_data, rechunk
from penstock.bench.workload import JOIN3, Workload
from penstock.duration import MICROS
from penstock.engine.reports.report import Report
from penstock.engine.sinks.sink import noop
from penstock.engine.state.manifest import Manifest
from penstock.errors import PenstockError

CHUNKS = 10
# A tier that merging never reaches by itself.
_OWN_TIER = 1_000
# Tuples/s of each stream: few, so that the cost of the window's many pieces is what shows.
RATE = 100


@dataclass(frozen=True)
class Tail:
    """The last batches of a run: the median of their seconds, the most state, the chunks of one
    stream's window at the end, and all results."""

    median_s: float
    state_tuples: int
    chunks: int
    results: int


class LongWindowDocument(TypedDict):
    """The figures for programs; `many` and `ten` are the two arrangements of the same window."""

    window_s: int
    batch_tuples: int
    batches: dict[str, int]
    measured_batches: int
    state_tuples: dict[str, int]
    chunks: dict[str, int]
    results: dict[str, int]
    median_s: dict[str, float]
    ratio: float


def long_window_benchmark(
    seconds: int, data: Path, progress: Callable[[str], None], tail: int = 100
) -> LongWindowDocument:
    """The last batches of a window of so many seconds, a second a batch, in one process.

    `many` read a file a second all along; `ten` had all before the last `tail` seconds in ten big
    batches, and keeps them as ten chunks. Both have the same tuples in their windows.
    """
    if seconds - tail < CHUNKS:
        what = f"a window of {seconds} s leaves nothing before the last {tail} batches"
        raise PenstockError(what, hint="give more --seconds")
    workload = replace(
        JOIN3, rate=RATE, seconds=seconds, window=seconds, step=MICROS, distinct=RATE * seconds
    )
    progress(f"making {workload.tuples:,} tuples in {3 * workload.files:,} files")
    folder = ensure_data(workload, data)
    with tempfile.TemporaryDirectory(dir=data, prefix="chunks-") as scratch:
        few = rechunk(folder, _sizes(seconds, tail), Path(scratch, "data"))
        progress(f"ten chunks, then {tail} batches")
        ten = _tail_of(workload, few, f"{scratch}/ten", tail, pinned=CHUNKS)
        progress(f"{workload.files:,} batches")
        many = _tail_of(workload, folder, f"{scratch}/many", tail)
    return {
        "window_s": seconds,
        "batch_tuples": 3 * workload.tuples_per_file,
        "batches": {"many": workload.files, "ten": CHUNKS + tail},
        "measured_batches": tail,
        "state_tuples": {"many": many.state_tuples, "ten": ten.state_tuples},
        "chunks": {"many": many.chunks, "ten": ten.chunks},
        "results": {"many": many.results, "ten": ten.results},
        "median_s": {"many": round(many.median_s, 5), "ten": round(ten.median_s, 5)},
        "ratio": round(many.median_s / ten.median_s, 3),
    }


def _sizes(seconds: int, tail: int) -> list[int]:
    """How many of the one-second files go to each file: ten large ones, then one by one."""
    large, rest = divmod(seconds - tail, CHUNKS)
    return [large + (number < rest) for number in range(CHUNKS)] + [1] * tail


def _tail_of(workload: Workload, folder: Path, checkpoint: str, tail: int, pinned: int = 0) -> Tail:
    """Run over a folder; the chunks of the first `pinned` batches are never merged."""
    reports: list[Report] = []

    def report(made: Report) -> None:
        reports.append(made)
        if made.batch < pinned:
            run.pipeline.manifest = _pinned(run.pipeline.manifest)

    query = sql(workload.cql(folder))
    run = query.local(sink=noop(), checkpoint=checkpoint, report=report)
    run.available_now()
    last = reports[-tail:]
    modules = run.pipeline.manifest.modules.values()
    return Tail(
        statistics.median(made.seconds for made in last),
        max(made.state_tuples for made in last),
        max(len(chunks) for partitions in modules for chunks in partitions.values()),
        reports[-1].total_results,
    )


def _pinned(manifest: Manifest) -> Manifest:
    """The same state with each chunk in a tier of its own: only chunks of one tier are merged."""
    modules = {
        module: {
            pid: tuple(replace(chunk, tier=_OWN_TIER + n) for n, chunk in enumerate(chunks))
            for pid, chunks in partitions.items()
        }
        for module, partitions in manifest.modules.items()
    }
    return replace(manifest, modules=modules)
