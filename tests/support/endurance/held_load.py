"""An hour at 80 % of what a query can bear, with bursts: nothing grows and nothing is late.

    python tests/support/endurance/held_load.py --minutes 60 --share 0.8 --cores 2

First rates are tried, until batches of a second of data take that share of a second; then the query
is run by the clock, as users run it. Each stream has a burst of ten seconds at some time. Exits
with 1 if state, memory or disk grow, or tuples are late. Nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
from penstock.api import sql
from penstock.engine.reports.report import Report
from penstock.engine.sinks.sink import parquet
from penstock.engine.spark.session import make_session
from support.endurance.footprint import ends, footprint, grown
from support.endurance.long_run import faults

WINDOW = 10
"""Seconds."""
FIRST_RATE = 10_000
"""Tuples/s of each stream, at which measuring begins."""
TURNS = 4
"""Times that the rate is set by what the last one took."""
TRIED = 60
"""Seconds for which a rate is tried."""
FACTOR, LENGTH = 3, 10
"""A burst: so many times the rate for so many seconds."""
AFTER = 60
"""Seconds after the begin of a burst in which batches are told apart from the others."""
LOOK = 20.0
"""Seconds between two looks at memory and disk."""

STREAM = """
CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, x DOUBLE) WITH (
  format = 'synthetic', timestamp = 'ts', rate = {rate}, arrivals = 'poisson', seed = {seed},
  start = '2026-01-01 00:00:00', duration = '{seconds} seconds', {more}
  values = 'k: uniform(0, {keys}); x: uniform(0.0, 1.0)'
);
"""
# A tuple has an eighth of a partner in each other window.
JOIN = """
SELECT a.ts AS ts, a.k AS k, a.x AS ax, b.x AS bx, c.x AS cx
FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS], c [RANGE 10 SECONDS]
WHERE a.k = b.k AND b.k = c.k
"""


def text(rate: int, seconds: int, more: Sequence[str]) -> str:
    """The query over streams of so many seconds; each has something `more` to say."""
    size = {"rate": rate, "keys": 8 * WINDOW * rate, "seconds": seconds}
    streams = zip("abc", more, strict=True)
    made = [STREAM.format(name=n, more=m, seed=s, **size) for s, (n, m) in enumerate(streams)]
    return "".join(made) + JOIN


def share_at(spark: Any, rate: int, folder: Path) -> float:
    """The seconds that a batch of a second takes in a run by the clock, once all is warm."""
    reports: list[Report] = []
    with sql(text(rate, TRIED, [""] * 3)).start(
        spark,
        sink=parquet(str(folder / f"out-{rate}")),
        checkpoint=folder / f"checkpoint-{rate}",
        trigger=1.0,
        report=reports.append,
    ) as run:
        time.sleep(TRIED)
        run.stop()
    return median(r.seconds / r.span for r in reports[-len(reports) // 3 :] if r.span)


def rate_for(spark: Any, share: float, folder: Path) -> int:
    """The rate at which batches of a second take that share of a second."""
    rate = FIRST_RATE
    for _ in range(TURNS):
        found = share_at(spark, rate, folder)
        tell(f"{rate:,} tuples/s of each stream take {found:.2f} s of a second")
        rate = round(rate * share / found)
    return rate


def held(spark: Any, rate: int, minutes: float, folder: Path) -> tuple[list[Report], list[Any]]:
    """What a run by the clock reported, and what it held."""
    seconds = round(60 * minutes)
    bursts = [f"shape = 'burst({seconds * n // 4} s, {LENGTH} s, {FACTOR})'," for n in (1, 2, 3)]
    reports, prints, checkpoint = list[Report](), list[Any](), folder / "checkpoint"
    with sql(text(rate, seconds, bursts)).start(
        spark,
        sink=parquet(str(folder / "out")),
        checkpoint=checkpoint,
        trigger=1.0,
        report=reports.append,
    ) as run:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(min(LOOK, max(until - time.monotonic(), 0.1)))
            prints.append(footprint(checkpoint))
            if reports:
                last = reports[-1]
                tell(f"batch {last.batch}: {last.seconds:.2f} s, {last.delay or 0:.1f} s behind")
        run.stop()
    return reports, prints


def tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="a load near the most, held for long")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--share", type=float, default=0.8)
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    spark = make_session(f"local[{options.cores}]")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        try:
            rate = rate_for(spark, options.share, folder)
            reports, prints = held(spark, rate, options.minutes, folder)
        finally:
            spark.stop()
    # The first batch compiles, and takes what came meanwhile.
    begun = reports[0].at - (reports[0].delay or 0.0)
    length = 60 * options.minutes
    bursts = [begun + length * n / 4 for n in (1, 2, 3)]
    calm = [r for r in reports[5:] if not any(b <= r.at <= b + AFTER for b in bursts)]
    wild = [r for r in reports[5:] if any(b <= r.at <= b + AFTER for b in bursts)]
    figures = {
        "seconds": ends([r.seconds for r in calm]),
        "state": ends([float(r.state_tuples) for r in calm]),
        **grown(prints),
    }
    late = sum(sum(r.late.values()) for r in reports)
    read = sum(sum(r.read.values()) for r in reports)
    print(f"{len(reports)} batches, {read:,} tuples read, {reports[-1].total_results:,} results")
    print(f"busy {median(r.busy or 0.0 for r in calm):.2f} of the time; {late} tuples late")
    for name, part in (("calm", calm), ("in and after bursts", wild)):
        delays = [r.delay for r in part if r.delay is not None]
        if delays:
            half, most = np.percentile(delays, (50, 99))
            print(f"delay, {name}: median {half:.2f} s, 99th percentile {most:.2f} s")
    for name, (first, last) in figures.items():
        print(f"{name:10} {first:14,.4g} in the first tenth {last:14,.4g} in the last")
    found = [*faults(figures), *([f"{late} tuples late"] if late else [])]
    print("; ".join(found) or "nothing grew, nothing was late")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
