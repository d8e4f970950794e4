"""Ten thousand batches: the last tenth takes no more time, memory and disk than the first.

    python tests/support/endurance/long_run.py --batches 10000 --engine spark

Each batch reads a file of each of three streams, as one would that comes every second. Exits with 1
if something grows. CPU-seconds are those of all processes, so that it may run on a busy machine.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[2]))
from penstock.api import sql
from penstock.engine.reports.report import Report
from penstock.engine.sinks.sink import parquet
from support.endurance.footprint import (
    Footprint,
    cpu_seconds,
    ends,
    footprint,
    grown,
    spent,
)
from support.engines.soak import QUERIES, script, write_input

LOOKS = 100
"""Looks at what a run holds, evenly spread."""
SLACK = {"memory": 1.25, "forgotten": 1.25, "files": 1.25, "disk": 1.25}
"""How many times what it was in the first tenth a figure may be in the last; others 1.1 times."""
SMALL = {"memory": 100 << 20, "forgotten": 100 << 20, "files": 50, "disk": 32 << 20}
"""Differences that mean nothing, however many times the first figure they are: a log of reports has
up to 16 MiB."""


class Watch:
    """Looks at a run from batch to batch."""

    def __init__(self, checkpoint: Path, every: int):
        self._checkpoint = checkpoint
        self._every = every
        self._cpu = cpu_seconds()
        self.seconds: list[float] = []
        self.cpu: list[float] = []
        self.prints: list[Footprint] = []

    def see(self, report: Report) -> None:
        """Take note of a batch."""
        self.seconds.append(report.seconds)
        if len(self.seconds) % self._every:
            return
        now = cpu_seconds()
        self.cpu.append(spent(self._cpu, now) / self._every)
        self.prints.append(footprint(self._checkpoint))
        # What it costs to look is not the run's.
        self._cpu = cpu_seconds()
        print(f"{len(self.seconds)} batches", end="\r", file=sys.stderr, flush=True)

    def figures(self) -> Mapping[str, tuple[float, float]]:
        """Of the first and the last tenth."""
        return {
            "cpu": ends(self.cpu),
            "seconds": ends(self.seconds),
            **grown(self.prints),
        }


def faults(figures: Mapping[str, tuple[float, float]]) -> Iterator[str]:
    """What has grown."""
    for name, (first, last) in figures.items():
        if last > SLACK.get(name, 1.1) * first and last - first > SMALL.get(name, 0):
            yield f"{name} grew from {first:,.3g} to {last:,.3g}"


def watched_run(batches: int, query: str, engine: str, folder: Path) -> Watch:
    """A run over so many files of each stream."""
    write_input(folder / "in", batches, Random(1))
    checkpoint = folder / "checkpoint"
    watch = Watch(checkpoint, max(batches // LOOKS, 1))
    planned, sink = sql(script(query, folder / "in")), parquet(str(folder / "out"))
    if engine == "local":
        run = planned.local(sink=sink, checkpoint=checkpoint, report=watch.see)
        run.available_now()
        return watch
    from penstock.engine.spark.session import make_session

    spark = make_session("local[2]", {"spark.sql.shuffle.partitions": "2"})
    try:
        with planned.start(
            spark, sink=sink, checkpoint=checkpoint, available_now=True, report=watch.see
        ) as started:
            started.await_termination()
    finally:
        spark.stop()
    return watch


def main() -> None:
    parser = argparse.ArgumentParser(description="many batches, of which none may cost more")
    parser.add_argument("--batches", type=int, default=10_000)
    parser.add_argument("--query", choices=tuple(QUERIES), default="common")
    parser.add_argument("--engine", choices=("spark", "local"), default="spark")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        watch = watched_run(options.batches, options.query, options.engine, Path(folder))
    figures = watch.figures()
    print(f"{len(watch.seconds)} batches of {options.query} on {options.engine}")
    for name, (first, last) in figures.items():
        print(f"{name:10} {first:14,.4g} in the first tenth {last:14,.4g} in the last")
    steps = [f"{each.memory >> 20}" for each in watch.prints[:: max(len(watch.prints) // 10, 1)]]
    print(f"memory, MiB, from tenth to tenth: {', '.join(steps)}")
    found = list(faults(figures))
    print("; ".join(found) or "nothing grew")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
